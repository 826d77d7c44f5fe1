import type { ClusterAccess } from "../../../kube/cluster-access.ts";
import { Forbidden, KubeError, Unauthorized, Unreachable } from "../../../kube/errors.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import type { Kube } from "../../../kube/port.ts";
import { isRecord, recordOf, recordsIn } from "../../../kube/record.ts";
import type { Contact, ServerFacts } from "../judge/server.ts";
import { credentialsEndAt } from "./credentials-end.ts";
import { policyType, selfType } from "./kinds.ts";
import { look } from "./look.ts";

/** The first words with an API server: is it there, is it one, does it know us. */
export async function gatherServer(kube: Kube, access: ClusterAccess, now: number): Promise<ServerFacts> {
  const contact = await makeContact(kube);
  return {
    address: access.server,
    origin: access.origin,
    contact,
    credentialsEndAt: contact.kind === "refused" ? credentialsEndAt(await access.credentials.current()) : undefined,
    now,
  };
}

async function makeContact(kube: Kube): Promise<Contact> {
  try {
    const version = await versionOf(kube);
    return {
      kind: "answers",
      version,
      user: await whoAmI(kube),
      groupVersions: await look(servedGroups(kube)),
      servesPolicies: await look(servesPolicies(kube)),
    };
  } catch (error) {
    if (error instanceof Unauthorized) return { kind: "refused" };
    if (error instanceof Unreachable) return { kind: "none", code: codeOf(error), message: error.message };
    if (error instanceof KubeError) return { kind: "stranger", message: error.message };
    throw error;
  }
}

/** Who may not ask for it has been recognised all the same. */
async function versionOf(kube: Kube): Promise<string | undefined> {
  try {
    const answer = await kube.fetch("/version");
    if (isRecord(answer) && typeof answer.gitVersion === "string") return answer.gitVersion;
  } catch (error) {
    if (error instanceof Forbidden) return undefined;
    throw error;
  }
  throw new KubeError("Unavailable", "it tells no version", { kind: "never" });
}

/** The version is told to anybody: who is a stranger shows only here. */
async function whoAmI(kube: Kube): Promise<string | undefined> {
  const draft = { apiVersion: "authentication.k8s.io/v1", kind: selfType.kind, metadata: {} };
  const review = await look(kube.create<KubeObject>(selfType, draft));
  const { username } = recordOf(recordOf(review.isSeen ? review.value.status : undefined).userInfo);
  return typeof username === "string" && username !== "" ? username : undefined;
}

async function servedGroups(kube: Kube): Promise<readonly string[]> {
  const [core, groups] = [recordOf(await kube.fetch("/api")), recordOf(await kube.fetch("/apis"))];
  const versions = recordsIn(groups.groups).flatMap((group) =>
    recordsIn(group.versions).map(({ groupVersion }) => String(groupVersion)),
  );
  return [...(Array.isArray(core.versions) ? core.versions.map(String) : []), ...versions];
}

async function servesPolicies(kube: Kube): Promise<boolean> {
  const types = await kube.discover(policyType.group, policyType.version);
  return types.some(({ plural }) => plural === policyType.plural);
}

/** Of the innermost cause that has one: that is where it went wrong. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const inner = codeOf(error instanceof AggregateError ? error.errors[0] : error.cause);
  if (inner !== "" || error instanceof KubeError) return inner;
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
