import { isNamespaceName, isObjectName } from "../base/object-names.ts";
import { noteWords } from "../insight/consumers/consumer-words.ts";
import { reportConsumers } from "../insight/consumers/consumers-report.ts";
import { listDerived } from "../insight/consumers/derived-secrets.ts";
import { lookAround } from "../insight/consumers/neighbourhood.ts";
import { parentOf } from "../insight/resources/children.ts";
import { listSeen, type Unseen } from "../insight/resources/list-all.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { PUBLISHED_SELECTOR, secretType } from "../publish/secret-publisher.ts";
import { partsOf } from "../restart/source-id.ts";
import { consumerView } from "./consumer-views.ts";
import { idOf } from "./credential-id.ts";
import { BadQuestion } from "./refusals.ts";
import { lookAtSecret } from "./secret-view.ts";
import type { ConsumersView, CredentialId, WorkloadsView } from "./wire.ts";

/** From a Secret to who uses it, as `keyturn consumers` has it. Live, with the rights of whoever asks. */
export async function consumersView(kube: Kube, query: URLSearchParams, now: number): Promise<ConsumersView> {
  const namespace = readNamespace(query);
  const name = query.get("name") ?? "";
  if (!isObjectName(name)) throw new BadQuestion(400, "name must be the name of a Secret");
  const target = { type: secretType, source: `secret/${name}`, name, namespace } as const;
  const [report, secret] = await Promise.all([
    reportConsumers(kube, { target, namespace, now }),
    lookAtSecret(kube, { namespace, name }),
  ]);
  const { publisher, consumers, unseen } = report;
  return {
    at: now,
    secret,
    ...(publisher && { credential: idOf(publisher.owner.kind, publisher.owner) }),
    consumers: consumers.map(consumerView),
    unseen: unseen.map(unseenWords),
    notes: noteWords({ ...report, unseen: [] }),
  };
}

/** From workloads to the Secrets that they use and that somebody's key is in. */
export async function workloadsView(kube: Kube, query: URLSearchParams): Promise<WorkloadsView> {
  const namespace = readNamespace(query);
  const unseen: Unseen[] = [];
  const selection = { namespace, labelSelector: PUBLISHED_SELECTOR, metadataOnly: true };
  const [around, published, derived] = await Promise.all([
    lookAround(kube, namespace),
    listSeen(kube, secretType, selection, unseen),
    listDerived(kube, namespace, unseen),
  ]);
  const known = new Map([...derived, ...published].map((secret) => [secret.metadata.name, credentialOf(secret)]));
  const workloads = around.workloads.flatMap(({ kindName: kind, name, uses, pods }) => {
    const sources = new Set(
      [...uses, ...pods.flatMap((pod) => pod.uses)]
        .map(({ source }) => partsOf(source))
        .flatMap((part) => (part.kind === "secret" ? [part.name] : [])),
    );
    const secrets = [...sources].filter((secret) => known.has(secret)).sort();
    return secrets.length === 0 ? [] : [{ kind, name, secrets: secrets.map((secret) => secretOf(secret, known)) }];
  });
  const words = [...new Set([...unseen, ...around.unseen].map(unseenWords))];
  return {
    namespace,
    workloads: workloads.sort((a, b) => (`${a.kind} ${a.name}` < `${b.kind} ${b.name}` ? -1 : 1)),
    unseen: words,
  };
}

function secretOf(
  secret: string,
  known: ReadonlyMap<string, CredentialId | undefined>,
): WorkloadsView["workloads"][number]["secrets"][number] {
  const credential = known.get(secret);
  return { secret, ...(credential !== undefined && { credential }) };
}

function credentialOf(secret: KubeObject): CredentialId | undefined {
  const owner = parentOf({ object: secret });
  return owner && idOf(owner.kind, owner);
}

function readNamespace(query: URLSearchParams): string {
  const namespace = query.get("namespace") ?? "";
  if (!isNamespaceName(namespace)) throw new BadQuestion(400, "namespace must be the name of a namespace");
  return namespace;
}

export const unseenWords = ({ what, why }: Unseen): string => `${what}: ${why}`;
