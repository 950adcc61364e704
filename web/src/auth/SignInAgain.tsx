import { useT } from "../i18n";
import { Modal } from "../ui/Modal";
import { Button } from "../ui/parts";
import { Ways } from "./SignIn";
import { session, type Way } from "./session";

/** Lies over the page, which stays as it is, until the same person signed in again. */
export function SignInAgain({ way }: { way: Way }) {
  const t = useT();
  return (
    <Modal title={t("sign_in.again")} onClose={() => undefined}>
      <p>{t("sign_in.again_why")}</p>
      <Ways only={way} />
      <div className="actions end">
        <Button tone="quiet" onClick={() => session.signOut()}>
          {t("sign_out")}
        </Button>
      </div>
    </Modal>
  );
}
