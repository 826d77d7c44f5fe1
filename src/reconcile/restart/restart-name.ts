/** What the controller that restarts workloads is switched on with. */
export const RESTART = "restart";
