/** A server that the suite runs against. */
export interface Target {
  readonly name: ServerName;
  /** Behaviours over plain kubectl are skipped, with a reason, where there is none. */
  readonly kubectl?: string;
  start(): Promise<RunningTarget>;
}

export interface RunningTarget {
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

/** `real` is Kubernetes itself; `embedded` is the server in `src/embedded/`. */
export type ServerName = "real" | "embedded";
