import type { KubeObject } from "../../../kube/objects.ts";
import { recordOf, recordsIn, type UnknownRecord } from "../../../kube/record.ts";
import { type Finding, hint, judged, ok, problem, type Sight } from "../finding.ts";

export interface WebhookFacts {
  /** ValidatingWebhookConfigurations and MutatingWebhookConfigurations. */
  readonly configurations: Sight<readonly KubeObject[]>;
  /** The Services that they call, by `namespace/name`. */
  readonly services: ReadonlyMap<string, ServiceState>;
  /** What the operator writes, as `plural.group`; of the core group `secrets`. */
  readonly written: readonly string[];
}

export type ServiceState = "missing" | "no endpoints" | "in order" | "unknown";

/** A webhook that must be asked and cannot answer refuses every write that it is asked about. */
export function judgeWebhooks({ configurations, services, written }: WebhookFacts): readonly Finding[] {
  return judged(configurations, "webhooks", (objects) => {
    const findings = objects.flatMap((configuration) =>
      recordsIn(configuration.webhooks).flatMap((webhook) =>
        judgeWebhook(configuration, webhook, { services, written }),
      ),
    );
    return findings.length > 0 ? findings : [ok("webhooks", "none stands in the way of what the operator writes")];
  });
}

/** `namespace/name`; undefined where it is called by URL. */
export function serviceOf(webhook: UnknownRecord): string | undefined {
  const { namespace, name } = recordOf(recordOf(webhook.clientConfig).service);
  return typeof namespace === "string" && typeof name === "string" ? `${namespace}/${name}` : undefined;
}

/** Unless it says otherwise, a webhook that cannot be reached refuses. */
export const mustAnswer = (webhook: UnknownRecord): boolean => webhook.failurePolicy !== "Ignore";

function judgeWebhook(
  { kind, metadata }: KubeObject,
  webhook: UnknownRecord,
  { services, written }: Pick<WebhookFacts, "services" | "written">,
): readonly Finding[] {
  const service = serviceOf(webhook);
  const state = service === undefined ? undefined : services.get(service);
  if (!mustAnswer(webhook) || (state !== "missing" && state !== "no endpoints")) return [];
  const touched = written.filter((what) => recordsIn(webhook.rules).some((rule) => isMatched(rule, what)));
  if (touched.length === 0) return [];
  const isNarrow = isSelective(webhook);
  const why = state === "missing" ? `its Service ${service} is not there` : `its Service ${service} has no endpoints`;
  const what = `${isNarrow ? "some writes" : "every write"} of ${touched.join(", ")}`;
  const say = isNarrow ? hint : problem;
  return [
    say(
      `webhook ${String(webhook.name)}`,
      `refuses ${what}: ${why}, and its failurePolicy is Fail`,
      `start what answers for it, or remove the ${kind} ${metadata.name} if it was left behind`,
    ),
  ];
}

/** Only objects, or namespaces, that have been chosen are meant; exceptions are no choice. */
function isSelective(webhook: UnknownRecord): boolean {
  const { objectSelector, namespaceSelector, matchConditions } = webhook;
  return [objectSelector, namespaceSelector].some(chooses) || recordsIn(matchConditions).length > 0;
}

function chooses(selector: unknown): boolean {
  const { matchLabels, matchExpressions } = recordOf(selector);
  return (
    Object.keys(recordOf(matchLabels)).length > 0 ||
    recordsIn(matchExpressions).some(({ operator }) => operator === "In" || operator === "Exists")
  );
}

function isMatched(rule: UnknownRecord, what: string): boolean {
  const [plural = "", ...rest] = what.split(".");
  const listed = (list: unknown, ...wanted: readonly string[]): boolean =>
    Array.isArray(list) && wanted.some((each) => list.includes(each));
  return (
    listed(rule.apiGroups, "*", rest.join(".")) &&
    listed(rule.resources, "*", "*/*", plural, `${plural}/*`) &&
    listed(rule.operations, "*", "CREATE", "UPDATE", "DELETE")
  );
}
