/** The API's things under names that do not collide with the browser's. */
export type {
  Action,
  Charge,
  Closing,
  Counts,
  Current,
  Eligibility,
  HistoryEntry,
  Invitation,
  Me,
  Member,
  Membership,
  OrganizationHistoryEntry,
  OrganizationHistoryPage,
  Problem,
  Processing,
  paths,
  Request as Approval,
  RequestContent,
  RequestVersion,
  SignIn,
  SignInPerson,
  SignInProvider,
  Statement,
  Statements,
  Status,
  Total,
  Verified,
  Violation,
} from "../../generated/api";

/** The lists of requests. */
export type View = "inbox" | "mine" | "all";
