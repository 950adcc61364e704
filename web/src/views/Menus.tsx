/** The menus of the frame. They come when somebody reaches for one: the first view needs none. */

import { Menu } from "@base-ui/react/menu";
import { useNavigate } from "@tanstack/react-router";
import type { Membership } from "../api/types";
import { session } from "../auth/session";
import { useT } from "../i18n";
import { Icon } from "../ui/icons";
import { PreferenceItems } from "../ui/Preferences";
import { ADMIN, PersonFace } from "./Shell";

export interface MenuProps {
  /** The person has asked for it: it opens, and takes the focus that its stand-in had. */
  open: boolean;
}

/** A menu belongs to the landmark that its button is in, for who goes from one to the next. */
const navigation = () => document.querySelector<HTMLElement>("nav.side");

interface Memberships {
  membership: Membership;
  /** Those that are active. */
  memberships: Membership[];
}

export function Organizations({ open, membership, memberships }: MenuProps & Memberships) {
  const t = useT();
  return (
    <Menu.Root defaultOpen={open}>
      <Menu.Trigger className="organization menu-trigger" autoFocus>
        <span>{membership.organization_name}</span>
        <Icon name="down" />
      </Menu.Trigger>
      <Menu.Portal container={navigation()}>
        <Menu.Positioner className="menu-positioner" positionMethod="fixed" sideOffset={6} align="start">
          <Menu.Popup className="menu" aria-label={t("organizations")}>
            <OrganizationItems memberships={memberships} />
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function OrganizationItems({ memberships }: { memberships: Membership[] }) {
  const navigate = useNavigate();
  return memberships.map((one) => (
    <Menu.Item
      key={one.organization_id}
      className="menu-item"
      onClick={() =>
        void navigate({
          to: "/o/$org/$view",
          params: { org: one.organization_id, view: one.can_approve ? "inbox" : "mine" },
        })
      }
    >
      {one.organization_name}
    </Menu.Item>
  ));
}

/** What a phone has no room for outside the menu: other organizations, and the views of administrators. */
function NarrowItems({ membership, memberships }: Memberships) {
  const t = useT();
  const navigate = useNavigate();
  return (
    <div className="where-narrow">
      {memberships.length > 1 && (
        <Menu.Group className="menu-group">
          <Menu.GroupLabel className="menu-label">{t("organizations")}</Menu.GroupLabel>
          <OrganizationItems memberships={memberships} />
        </Menu.Group>
      )}
      {membership.is_admin && (
        <Menu.Group className="menu-group">
          <Menu.GroupLabel className="menu-label">{t("role.admin")}</Menu.GroupLabel>
          {ADMIN.map(({ to, icon, label }) => (
            <Menu.Item
              key={to}
              className="menu-item"
              onClick={() => void navigate({ to, params: { org: membership.organization_id } })}
            >
              <span className="menu-check">
                <Icon name={icon} />
              </span>
              {t(label)}
            </Menu.Item>
          ))}
        </Menu.Group>
      )}
    </div>
  );
}

export function PersonMenu({
  open,
  membership,
  memberships,
  onHelp,
}: MenuProps & Memberships & { onHelp: () => void }) {
  const t = useT();
  const navigate = useNavigate();
  return (
    <Menu.Root defaultOpen={open}>
      <Menu.Trigger className="person-menu menu-trigger" autoFocus>
        <PersonFace membership={membership} />
      </Menu.Trigger>
      <Menu.Portal container={navigation()}>
        <Menu.Positioner className="menu-positioner" positionMethod="fixed" sideOffset={8} align="start" side="top">
          <Menu.Popup className="menu">
            <NarrowItems membership={membership} memberships={memberships} />
            <PreferenceItems />
            <Menu.Separator className="menu-separator" />
            <Menu.Item
              className="menu-item"
              onClick={() => void navigate({ to: "/o/$org/mail", params: { org: membership.organization_id } })}
            >
              <span className="menu-check">
                <Icon name="mail" />
              </span>
              {t("view.mail")}
            </Menu.Item>
            <Menu.Item className="menu-item" onClick={onHelp}>
              <span className="menu-check">
                <Icon name="help" />
              </span>
              {t("help.title")}
            </Menu.Item>
            <Menu.Item className="menu-item" onClick={() => session.signOut()}>
              <span className="menu-check">
                <Icon name="left" />
              </span>
              {t("sign_out")}
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
