import { Forbidden, KubeError } from "../../../kube/errors.ts";
import { serviceAccountUser } from "../../../kube/impersonating.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import type { Kube } from "../../../kube/port.ts";
import { recordOf } from "../../../kube/record.ts";
import { inParallel } from "../../../providers/bind/in-parallel.ts";
import { seen, unseen } from "../finding.ts";
import type { AnsweredRight, RightsFacts } from "../judge/rights.ts";
import { type NeededRight, neededRights, type Right, type RightsWishes, rightKey } from "../needed-rights.ts";
import { accessType, ownAccessType } from "./kinds.ts";

export interface Account {
  readonly namespace: string;
  readonly name: string;
}

export interface RightsQuestion extends RightsWishes {
  /** Absent: whoever the kubeconfig is. */
  readonly account?: Account | undefined;
  /** Who that is, as far as it is known. */
  readonly user: string | undefined;
}

/** Questions under way at a time. */
const AT_A_TIME = 16;

/** Questions are objects that are made and never kept. */
type Asked = Pick<Kube, "create">;

type Ask = (right: Right) => Promise<boolean>;

/** Asks the API server for every right that is needed; each once, whoever needs it. */
export async function gatherRights(kube: Asked, question: RightsQuestion): Promise<RightsFacts> {
  const { account, user } = question;
  const who = account
    ? `the ServiceAccount ${account.namespace}/${account.name}`
    : (user ?? "whoever the kubeconfig is");
  try {
    const needed = neededRights(question);
    const ask = account ? await askFor(kube, account, needed) : askOneself(kube);
    return { who, answers: seen(await answers(needed, ask)) };
  } catch (error) {
    if (error instanceof KubeError) return { who, answers: unseen(error.message) };
    throw error;
  }
}

async function answers(needed: readonly NeededRight[], ask: Ask): Promise<readonly AnsweredRight[]> {
  const each = [...new Map(needed.map((right) => [rightKey(right), right])).values()];
  const allowed = await inParallel(each, AT_A_TIME, async (right) => [rightKey(right), await ask(right)] as const);
  const known = new Map(allowed);
  return needed.map((right) => ({ ...right, isAllowed: known.get(rightKey(right)) === true }));
}

const askOneself =
  (kube: Asked, as?: string): Ask =>
  async (right) => {
    const draft = review(ownAccessType.kind, { resourceAttributes: attributesOf(right) });
    return isAllowed(await kube.create<KubeObject>(ownAccessType, draft, as === undefined ? {} : { as }));
  };

/** Who may not act as the account may still be allowed to ask about it. */
async function askFor(kube: Asked, account: Account, needed: readonly NeededRight[]): Promise<Ask> {
  const user = serviceAccountUser(account);
  const [first] = needed;
  const asAccount = askOneself(kube, user);
  try {
    if (first) await asAccount(first);
    return asAccount;
  } catch (error) {
    if (!(error instanceof Forbidden)) throw error;
  }
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`, "system:authenticated"];
  return async (right) => {
    const draft = review(accessType.kind, { user, groups, resourceAttributes: attributesOf(right) });
    return isAllowed(await kube.create<KubeObject>(accessType, draft));
  };
}

const review = (kind: string, spec: object) => ({ apiVersion: "authorization.k8s.io/v1", kind, metadata: {}, spec });

const isAllowed = ({ status }: KubeObject): boolean => recordOf(status).allowed === true;

const attributesOf = ({ verb, group, resource, subresource, name, namespace }: Right) => ({
  verb,
  group,
  resource,
  ...(subresource !== undefined && { subresource }),
  ...(name !== undefined && { name }),
  ...(namespace !== undefined && { namespace }),
});
