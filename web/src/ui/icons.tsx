/** Line icons, drawn for this page. They say nothing to a screen reader: the words beside them do. */

const PATHS = {
  inbox: "M3 12h5l2 3h4l2-3h5M5.5 5h13L21 12v6a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1v-6z",
  mine: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20a7.5 7.5 0 0 1 15 0",
  all: "M4 6h16M4 12h16M4 18h10",
  mail: "M3 6h18v12H3zM3.5 6.5l8.5 6.5 8.5-6.5",
  months: "M4 20V10m5.3 10V4m5.4 16v-8M20 20v-5",
  history: "M12 7v5l3.5 2M4 12a8 8 0 1 0 2.6-5.9M4 4v4h4",
  members:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.3a3.5 3.5 0 0 1 0 6.4M18 14.3a6.5 6.5 0 0 1 3.5 5.7",
  webhooks:
    "M10 13.5a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1.2 1.2M14 10.5a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1.2-1.2",
  plus: "M12 5v14M5 12h14",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4.5 4.5",
  check: "M5 12.5l4.5 4.5L19 7",
  cross: "M6 6l12 12M18 6L6 18",
  back: "M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6",
  left: "M14 6l-6 6 6 6",
  edit: "M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4",
  send: "M4 12l16-8-6 16-3-7z",
  withdraw: "M5 5l14 14M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  download: "M12 4v11m-4.5-4.5L12 15l4.5-4.5M5 20h14",
  shield: "M12 3l7.5 3v5.5c0 4.5-3 8-7.5 9.5-4.5-1.5-7.5-5-7.5-9.5V6z",
  play: "M7 5l12 7-12 7z",
  stop: "M7 7h10v10H7z",
  warning: "M12 4l9 16H3zM12 10v4.5M12 17.2v.1",
  help: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M12 16.8v.1",
  copy: "M9 9h10v11H9zM5 15V4h10",
  gear: "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M5.6 18.4l2.1-2.1M16.3 7.7l2.1-2.1",
  down: "M6 9l6 6 6-6",
  offline: "M3 3l18 18M8.5 16.5a5 5 0 0 1 7 0M5 13a10 10 0 0 1 4-2.4M19 13a10 10 0 0 0-6.3-2.9M12 20h.01",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
