/** The organization that the page shows, and what the person is in it. */

import { createContext, useContext } from "react";
import type { Membership } from "../api/types";

export const OrganizationContext = createContext<Membership | undefined>(undefined);

/** Undefined outside an organization, as on the sign-in page. */
export function useOrganization(): Membership | undefined {
  return useContext(OrganizationContext);
}

export function useMembership(): Membership {
  const membership = useOrganization();
  if (!membership) throw new Error("outside an organization");
  return membership;
}
