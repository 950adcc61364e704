import { Link } from "@tanstack/react-router";
import { useT } from "../i18n";
import { Empty } from "../ui/parts";

export function NotFound() {
  const t = useT();
  return (
    <main className="view">
      <Empty main title={t("not_found.title")}>
        <p>{t("problem.not_found")}</p>
        <Link to="/" className="button primary">
          {t("not_found.home")}
        </Link>
      </Empty>
    </main>
  );
}
