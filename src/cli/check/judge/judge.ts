import type { Finding } from "../finding.ts";
import { type AdmissionFacts, judgeAdmission } from "./admission.ts";
import { judgeClock } from "./clock.ts";
import { type ConfigurationFacts, judgeConfigurations } from "./configurations.ts";
import { type DefinitionFacts, judgeDefinitions } from "./definitions.ts";
import { judgeNeighbours, type NeighbourFacts } from "./neighbours.ts";
import { isAtWork, judgeOperator, type OperatorFacts } from "./operator.ts";
import { judgeResources, type ResourceFacts } from "./resources.ts";
import { judgeRights, type RightsFacts } from "./rights.ts";
import { judgeServer, type ServerFacts } from "./server.ts";
import { judgeWebhooks, type WebhookFacts } from "./webhooks.ts";

/** What is known of a cluster. Behind a server that does not answer, or lets nobody in, nothing is. */
export interface Facts {
  readonly server: ServerFacts;
  readonly cluster?: ClusterFacts;
}

export interface ClusterFacts {
  readonly skewMs: number | undefined;
  readonly definitions: readonly DefinitionFacts[];
  readonly rights: RightsFacts;
  readonly admission: readonly AdmissionFacts[];
  readonly webhooks: WebhookFacts;
  readonly operator: OperatorFacts;
  readonly configurations: readonly ConfigurationFacts[];
  readonly neighbours: NeighbourFacts;
  readonly resources: readonly ResourceFacts[];
}

/** Whether the operator is meant to be there already. */
export type When = "installed" | "before install";

export interface FindingGroup {
  readonly name: string;
  readonly findings: readonly Finding[];
}

/**
 * From facts to findings, group by group, in the order in which one thing stands on the other. Pure. Must not: ask
 * anything, or say anything of a Secret.
 */
export function judge({ server, cluster }: Facts, when: When = "installed"): readonly FindingGroup[] {
  const groups: readonly FindingGroup[] = [
    { name: "server", findings: judgeServer(server) },
    ...(cluster ? clusterGroups(cluster) : []),
  ];
  return groups
    .map(({ name, findings }) => ({ name, findings: findings.filter((finding) => isDue(finding, when)) }))
    .filter(({ findings }) => findings.length > 0);
}

const isDue = (finding: Finding, when: When): boolean =>
  when === "installed" || finding.level === "ok" || finding.comesWithInstall !== true;

const clusterGroups = (facts: ClusterFacts): readonly FindingGroup[] => [
  { name: "clock", findings: judgeClock(facts.skewMs) },
  { name: "definitions", findings: judgeDefinitions(facts.definitions) },
  { name: "rights", findings: judgeRights(facts.rights) },
  { name: "admission", findings: [...judgeAdmission(facts.admission), ...judgeWebhooks(facts.webhooks)] },
  { name: "operator", findings: judgeOperator(facts.operator) },
  { name: "configurations", findings: judgeConfigurations(facts.configurations) },
  { name: "neighbours", findings: judgeNeighbours(facts.neighbours) },
  { name: "resources", findings: judgeResources(facts.resources, isAtWork(facts.operator)) },
];
