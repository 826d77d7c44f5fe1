import { type CustomResource, definitionOf } from "../../../api/custom-resource.ts";
import { KORIFI_GROUP } from "../../../api/korifi/names.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import { recordOf, recordsIn, type UnknownRecord } from "../../../kube/record.ts";
import { counted, type Finding, few, hint, notLookedAt, notYet, ok, problem, type Sight } from "../finding.ts";
import { outermost, schemaDifference } from "./schema-difference.ts";
import { installerOf, isOurs } from "./whose.ts";

/** A kind that a controller needs, and its CustomResourceDefinition as it is installed; undefined: it is not. */
export interface DefinitionFacts {
  readonly resource: CustomResource;
  readonly installed: Sight<KubeObject | undefined>;
}

const INSTALL = "keyturn crds | kubectl apply --server-side -f -";

/** Whether the kinds are there, are Keyturn's, are served, and have the schema of this version. */
export function judgeDefinitions(facts: readonly DefinitionFacts[]): readonly Finding[] {
  if (facts.length === 0) return [];
  const blind = facts.find(({ installed }) => !installed.isSeen)?.installed;
  const present = facts.flatMap(({ resource, installed }) =>
    installed.isSeen && installed.value ? [{ resource, definition: installed.value }] : [],
  );
  const absent = facts.filter(({ installed }) => installed.isSeen && !installed.value);
  const findings = [
    ...(blind?.isSeen === false ? [notLookedAt("customresourcedefinitions", blind.why)] : []),
    ...(absent.length === facts.length ? [noneInstalled(facts.length)] : absent.map(notInstalled)),
    ...present.flatMap(({ resource, definition }) => judgeDefinition(resource, definition)),
  ];
  return findings.length > 0
    ? findings
    : [ok("kinds", `${counted(facts.length, "definition")} installed, all of them Keyturn's and of this version`)];
}

const nameOf = ({ plural, group }: CustomResource): string => `${plural}.${group}`;

const noneInstalled = (count: number): Finding =>
  notYet(
    problem(
      "kinds",
      `none of the ${count} definitions is installed`,
      `${INSTALL}, or the whole of it: keyturn manifests`,
    ),
  );

const notInstalled = ({ resource }: DefinitionFacts): Finding =>
  notYet(problem(nameOf(resource), "is not installed: nothing of this kind can be made", INSTALL));

/** What is worse comes first, and what follows from it is not said as well. */
function judgeDefinition(resource: CustomResource, definition: KubeObject): readonly Finding[] {
  const about = nameOf(resource);
  if (definition.metadata.deletionTimestamp !== undefined) return [beingDeleted(about, definition)];
  const unserved = notServed(about, resource, definition);
  if (unserved) return [unserved];
  if (!isOurs(definition)) return [foreign(about, resource, definition)];
  return [...versionsStored(about, resource, definition), ...schemaFindings(about, resource, definition)];
}

function beingDeleted(about: string, { metadata }: KubeObject): Finding {
  const held = metadata.finalizers?.includes("customresourcecleanup.apiextensions.k8s.io") ?? false;
  return problem(
    about,
    "is being deleted, and every object of the kind with it",
    `${held ? "it waits for its objects, and they for their finalizers: leave an operator running until they are gone" : "wait until it is gone"}; then ${INSTALL}`,
  );
}

function notServed(
  about: string,
  { version, namespaced }: CustomResource,
  definition: KubeObject,
): Finding | undefined {
  const names = conditionOf(definition, "NamesAccepted");
  if (names?.status === "False") {
    return problem(
      about,
      `another definition has its names: ${String(names.message ?? names.reason)}`,
      "remove the other definition of this group, or leave out the controller that needs this one (--controllers)",
    );
  }
  if (conditionOf(definition, "Established")?.status !== "True") {
    return problem(about, "is not served yet", "wait a moment and check again; if it stays so: kubectl describe crd");
  }
  if (versionIn(definition, version)?.served !== true) {
    return problem(about, `does not serve ${version}, which this version of Keyturn uses`, INSTALL);
  }
  const scope = namespaced ? "Namespaced" : "Cluster";
  if (recordOf(definition.spec).scope !== scope) {
    return problem(
      about,
      `is not ${scope === "Cluster" ? "cluster-scoped" : "in namespaces"}, as Keyturn has it`,
      `the scope of a definition cannot be changed: move its objects away, delete it, then ${INSTALL}`,
    );
  }
  return undefined;
}

/** Korifi's kinds are left to Korifi where they are its own; of all others two operators would look after the same. */
function foreign(about: string, resource: CustomResource, definition: KubeObject): Finding {
  const installer = installerOf(definition);
  if (resource.group === KORIFI_GROUP) {
    return hint(
      about,
      `belongs to ${installer}, not to Keyturn: its objects are left to Korifi's own controllers`,
      "if Keyturn is to look after them: keyturn operator --korifi on, once those controllers are stopped",
    );
  }
  const { lacking } = differenceOf(resource, definition);
  const lost =
    lacking.length === 0 ? "" : `; its schema has no ${few(outermost(lacking))}, so that what is written there is lost`;
  return problem(
    about,
    `belongs to ${installer}, not to Keyturn${lost}`,
    `stop who looks after it now, have it let go of the definition, then ${INSTALL}`,
  );
}

function versionsStored(about: string, { version }: CustomResource, definition: KubeObject): readonly Finding[] {
  const stored = recordOf(definition.status).storedVersions;
  const others = Array.isArray(stored) ? stored.filter((each) => each !== version) : [];
  if (others.length === 0) return [];
  return [
    hint(
      about,
      `objects may still be stored as ${others.join(", ")}`,
      `write each of them once more, then take these versions out of status.storedVersions`,
    ),
  ];
}

function schemaFindings(about: string, resource: CustomResource, definition: KubeObject): readonly Finding[] {
  const { lacking, further, isOtherwise } = differenceOf(resource, definition);
  if (lacking.length > 0) {
    return [
      problem(
        about,
        `is of an older version: it has no ${few(outermost(lacking))}, and what is written there is lost`,
        INSTALL,
      ),
    ];
  }
  if (further.length > 0) {
    return [
      hint(
        about,
        `is of a newer version: it has ${few(outermost(further))}`,
        "use the keyturn command and the image of the version that it came with",
      ),
    ];
  }
  return isOtherwise ? [hint(about, "has the same fields with other rules or words than this version", INSTALL)] : [];
}

const differenceOf = (resource: CustomResource, definition: KubeObject) =>
  schemaDifference(schemaIn(definitionOf(resource), resource.version), schemaIn(definition, resource.version));

const schemaIn = (definition: KubeObject, version: string): unknown =>
  recordOf(versionIn(definition, version)?.schema).openAPIV3Schema;

const versionIn = ({ spec }: KubeObject, version: string): UnknownRecord | undefined =>
  recordsIn(recordOf(spec).versions).find(({ name }) => name === version);

const conditionOf = ({ status }: KubeObject, type: string): UnknownRecord | undefined =>
  recordsIn(recordOf(status).conditions).find((condition) => condition.type === type);
