/** What keeps the test cluster from being there, in one line that says what to do; printed without a stack. */
export class ClusterError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ClusterError";
  }
}
