import type { Kube } from "../../src/kube/port.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { connect } from "./connect.ts";
import { type OperatorAccess, operatorAccess } from "./operator-access.ts";
import type { RunningTarget, Target } from "./target.ts";

export interface StageWishes {
  readonly target: Target;
  /** Those of its operators; all there are, where absent. */
  readonly controllers?: readonly string[];
  /** The operator's way to the API server, where it is not the straight one: what it is given leads there as the operator. */
  readonly kubeconfigFor?: (server: Pick<RunningTarget, "kubeconfig">) => Promise<string>;
  /** Our kinds are there already, as somebody else has installed them. */
  readonly hasKinds?: true;
}

/** What every stage begins with: a server that knows our kinds, and ways to it. */
export interface OpenedStage {
  readonly server: RunningTarget;
  readonly kube: Kube;
  readonly access: OperatorAccess;
  /** Whatever was opened, to be closed in reverse, also when a story or the rest of the opening fails. */
  readonly ends: AsyncDisposableStack;
}

export async function openStage<S>(
  { target, controllers, kubeconfigFor, hasKinds }: StageWishes,
  furnish: (opened: OpenedStage) => Promise<S>,
): Promise<S> {
  const ends = new AsyncDisposableStack();
  try {
    const server = await target.start();
    ends.defer(() => server.stop());
    const kube = await connect(server.kubeconfig);
    ends.defer(() => kube.close());
    if (!hasKinds) await installDefinitions(kube);
    const own = await operatorAccess({ ...server, name: target.name }, controllers && { controllers });
    const access = kubeconfigFor ? { ...own, kubeconfig: await kubeconfigFor(own) } : own;
    return await furnish({ server, kube, access, ends });
  } catch (error) {
    await ends.disposeAsync();
    throw error;
  }
}
