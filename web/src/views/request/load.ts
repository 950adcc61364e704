/** Who sees a list will mostly open something of it: the request's view comes when there is nothing else to do. */
export const loadRequest = () => import("./RequestView");
