/** A server that the suite runs against. */
export interface Target {
  readonly name: ServerName;
  readonly kubeconfig: string;
  /** Behaviours over plain kubectl are skipped, with a reason, where there is none. */
  readonly kubectl?: string;
  stop(): Promise<void>;
}

/** `real` is Kubernetes itself; `embedded` is the server in `src/embedded/`. */
export type ServerName = "real" | "embedded";
