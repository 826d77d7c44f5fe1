import { access } from "node:fs/promises";
import { join } from "node:path";
import { KeyturnError, UsageError } from "../base/errors.ts";
import {
  accessFromCluster,
  accessFromKubeconfig,
  type ClusterAccess,
  openTransport,
  SERVICE_ACCOUNT_DIRECTORY,
} from "../kube/cluster-access.ts";
import { Forbidden, Unauthorized, Unavailable, Unreachable } from "../kube/errors.ts";
import { createKubeClient, type KubeClientOptions } from "../kube/kube-client.ts";
import type { Kube } from "../kube/port.ts";
import type { ExitCode, Flags, OptionSpec, World } from "./command.ts";

/** The flags of every command that talks to a cluster. */
export const clusterOptions: readonly OptionSpec[] = [
  {
    name: "kubeconfig",
    value: "FILE",
    description: "Kubeconfig to use. Else $KUBECONFIG, the pod's service account, ~/.kube/config.",
  },
  { name: "context", value: "NAME", description: "Context of the kubeconfig, if not its current one." },
];

export interface OpenCluster {
  readonly kube: Kube;
  readonly access: ClusterAccess;
}

/** Finds the cluster that is meant, and makes sure that it answers; whatever is wrong is one line that says what to do. */
export async function openCluster(
  flags: Flags,
  world: World,
  onServerDate?: (serverAt: number) => void,
): Promise<OpenCluster> {
  const found = await findAccess(flags, world);
  const kube = clientOf(found, world, onServerDate && { onServerDate });
  try {
    const version = await kube.fetch("/version", { timeoutMs: 10_000 });
    if (!isVersion(version)) throw new Unavailable("what answers /version is something else");
  } catch (error) {
    // Who may not even ask for the version has been recognised all the same, and that is what matters here.
    if (error instanceof Forbidden) return { kube, access: found };
    await kube.close();
    throw explain(error, found);
  }
  return { kube, access: found };
}

/** A client for what was found; nothing is asked yet. */
export const clientOf = (
  found: ClusterAccess,
  { clock, version }: Pick<World, "clock" | "version">,
  options?: Pick<KubeClientOptions, "onServerDate" | "defaultTimeoutMs">,
): Kube => createKubeClient({ ...options, transport: openTransport(found), clock, userAgent: `keyturn/${version}` });

/** What a command needs of a cluster while it runs. */
export interface ClusterCall {
  readonly kube: Kube;
  /** The namespace of the context. */
  readonly namespace: string;
  readonly flags: Flags;
  readonly world: World;
}

/** Opens the cluster, runs the command on it, and closes it whatever came of it. */
export async function withCluster(
  flags: Flags,
  world: World,
  command: (call: ClusterCall) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { kube, access: found } = await openCluster(flags, world);
  try {
    return await command({ kube, namespace: found.namespace, flags, world });
  } catch (error) {
    // The version is told to anybody: who is a stranger shows only now.
    throw error instanceof Unauthorized || error instanceof Unreachable ? explain(error, found) : error;
  } finally {
    await kube.close();
  }
}

/** Which cluster is meant. Throws where nothing says so, or what says so cannot be read. */
export async function findAccess(flags: Flags, world: World): Promise<ClusterAccess> {
  const { clock, environment } = world;
  const file = flags.text("kubeconfig");
  const context = flags.text("context");
  const common = { clock, environment, ...(context !== undefined && { context }) };
  if (file !== undefined) return accessFromKubeconfig({ ...common, paths: file });
  if (environment.KUBECONFIG) {
    return accessFromKubeconfig({ ...common, paths: environment.KUBECONFIG.split(":") });
  }
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (host && port && context === undefined && (await exists(join(SERVICE_ACCOUNT_DIRECTORY, "token")))) {
    return accessFromCluster({ host, port, clock });
  }
  return accessFromKubeconfig({ ...common, paths: [join(world.homeDirectory, ".kube", "config")] });
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const isVersion = (answer: unknown): boolean => typeof answer === "object" && answer !== null && "gitVersion" in answer;

function explain(error: unknown, { server, origin }: ClusterAccess): unknown {
  if (error instanceof Unreachable) {
    return new UsageError(
      `the API server ${server} (${origin}) does not answer: ${error.message}; is it running, and is this the right one?`,
      error,
    );
  }
  if (error instanceof Unauthorized) {
    return new UsageError(`the API server ${server} does not accept the credentials of ${origin}: log in again`, error);
  }
  return error instanceof KeyturnError
    ? new UsageError(`${server} (${origin}) is not a Kubernetes API server that works: ${error.message}`, error)
    : error;
}
