/** The months of one currency as bars. The table beside it says the same to who sees no bars. */

import { AxisBottom, AxisLeft } from "@visx/axis";
import { scaleBand, scaleLinear } from "@visx/scale";
import { Bar } from "@visx/shape";
import { useEffect, useRef, useState } from "react";
import { useLanguage } from "../../i18n";
import { decimalsOf, formatMoney } from "../../lib/money";

export interface Column {
  period: string;
  /** In minor units; it may be larger than a number can say exactly, which a bar need not. */
  total: string;
  closed: boolean;
}

const HEIGHT = 220;
const MARGIN = { top: 12, right: 8, bottom: 30, left: 64 };

export function Chart({
  columns,
  currency,
  onChoose,
}: {
  columns: Column[];
  currency: string;
  onChoose: (period: string) => void;
}) {
  const { language, t } = useLanguage();
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const unit = 10 ** decimalsOf(currency);
  const value = (column: Column) => Number(column.total) / unit;
  const inner = { width: Math.max(0, width - MARGIN.left - MARGIN.right), height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const x = scaleBand({ domain: columns.map((column) => column.period), range: [0, inner.width], padding: 0.35 });
  const highest = Math.max(0, ...columns.map(value));
  const lowest = Math.min(0, ...columns.map(value));
  const y = scaleLinear({ domain: [lowest, highest === lowest ? 1 : highest], range: [inner.height, 0], nice: true });
  const short = new Intl.DateTimeFormat(language, { month: "short", timeZone: "UTC" });
  const compact = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
  const every = Math.ceil(columns.length / Math.max(1, Math.floor(inner.width / 44)));
  return (
    <div className="chart" ref={frame}>
      {width > 0 && (
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={t("months.chart", { currency, count: columns.length })}
        >
          <g transform={`translate(${MARGIN.left},${MARGIN.top})`}>
            <AxisLeft
              scale={y}
              numTicks={4}
              hideAxisLine
              hideTicks
              tickFormat={(tick) => compact.format(Number(tick))}
              tickClassName="chart-tick"
              tickLabelProps={{ className: "chart-label", textAnchor: "end", dx: -6, dy: 4 }}
            />
            {y.ticks(4).map((tick) => (
              <line key={tick} className="chart-line" x1={0} x2={inner.width} y1={y(tick)} y2={y(tick)} />
            ))}
            {columns.map((column) => (
              <Bar
                key={column.period}
                className={`bar ${column.closed ? "closed" : "upcoming"}`}
                x={x(column.period) ?? 0}
                width={x.bandwidth()}
                y={y(Math.max(0, value(column)))}
                height={Math.max(1, Math.abs(y(value(column)) - y(0)))}
                rx={3}
                onClick={() => onChoose(column.period)}
              >
                <title>{`${column.period}: ${formatMoney(column.total, currency, language)}`}</title>
              </Bar>
            ))}
            <AxisBottom
              top={inner.height}
              scale={x}
              hideTicks
              axisLineClassName="chart-axis"
              tickValues={columns.filter((_, n) => n % every === 0).map((column) => column.period)}
              tickFormat={(period) => short.format(new Date(`${period}-15T00:00:00Z`))}
              tickLabelProps={{ className: "chart-label", textAnchor: "middle" }}
            />
          </g>
        </svg>
      )}
    </div>
  );
}

function useWidth(frame: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  return width;
}
