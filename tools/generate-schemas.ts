import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Schema } from "../src/embedded/schema/schema.ts";

/**
 * Writes `src/embedded/kinds/schemas.generated.json`: the OpenAPI v3 schemas of the kinds that the embedded server
 * knows, and of all they refer to, out of the Kubernetes module that `test/cluster/go.mod` pins. Descriptions are cut
 * to their first sentence, which is what `kubectl explain` needs to be of use. Must not: change anything else in them.
 *
 *   node tools/generate-schemas.ts [--module <directory of k8s.io/kubernetes>]
 */
interface OpenApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const TARGET = new URL("../src/embedded/kinds/schemas.generated.json", import.meta.url);
const GO_MODULE = new URL("../test/cluster/", import.meta.url);
const REF = "#/components/schemas/";
const MAX_DESCRIPTION = 160;

/** File of the group version → kinds served from it. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  api__v1: ["ConfigMap", "Event", "Namespace", "Pod", "Secret", "Service", "ServiceAccount"],
  "apis__admissionregistration.k8s.io__v1": [
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
  ],
  "apis__apiextensions.k8s.io__v1": ["CustomResourceDefinition"],
  apis__apps__v1: ["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"],
  "apis__authentication.k8s.io__v1": ["SelfSubjectReview", "TokenReview"],
  "apis__authorization.k8s.io__v1": [
    "LocalSubjectAccessReview",
    "SelfSubjectAccessReview",
    "SelfSubjectRulesReview",
    "SubjectAccessReview",
  ],
  apis__autoscaling__v1: ["Scale"],
  apis__batch__v1: ["CronJob", "Job"],
  "apis__coordination.k8s.io__v1": ["Lease"],
  "apis__events.k8s.io__v1": ["Event"],
  "apis__networking.k8s.io__v1": ["NetworkPolicy"],
  apis__policy__v1: ["Eviction", "PodDisruptionBudget"],
  "apis__rbac.authorization.k8s.io__v1": ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
};

/** Shapes of the protocol itself, named by schema. */
const META = ["Status", "DeleteOptions", "WatchEvent"].map((kind) => `io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`);

function moduleDirectory(argv: readonly string[]): string {
  const given = argv.indexOf("--module");
  if (given >= 0) return argv[given + 1] ?? "";
  const args = ["list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes"];
  return execFileSync("go", args, { cwd: GO_MODULE, encoding: "utf8" }).trim();
}

function firstSentence(text: string): string {
  const line = text.split("\n\n", 1)[0]?.replaceAll(/\s+/g, " ").trim() ?? "";
  const end = line.search(/\.(?= [A-Z])/);
  const sentence = end < 0 ? line : line.slice(0, end + 1);
  return sentence.length <= MAX_DESCRIPTION ? sentence : `${sentence.slice(0, MAX_DESCRIPTION - 1).trimEnd()}…`;
}

/** A schema with short descriptions; `names` gathers what it refers to. `isMap` says that keys are names, not keywords. */
function shorten(value: unknown, names: Set<string>, isMap = false): unknown {
  if (Array.isArray(value)) return value.map((item) => shorten(item, names));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
    if (!isMap && key === "description" && typeof inner === "string") return [key, firstSentence(inner)];
    if (!isMap && key === "$ref" && typeof inner === "string") names.add(inner.slice(REF.length));
    return [key, shorten(inner, names, !isMap && key === "properties")];
  });
  return Object.fromEntries(entries);
}

function rootsOf(document: OpenApiDocument, kinds: readonly string[]): string[] {
  const wanted = new Set(kinds.flatMap((kind) => [kind, `${kind}List`]));
  return Object.entries(document.components.schemas).flatMap(([name, schema]) => {
    const isServed = schema["x-kubernetes-group-version-kind"]?.some(({ kind }) => wanted.has(kind));
    return isServed && wanted.has(name.slice(name.lastIndexOf(".") + 1)) ? [name] : [];
  });
}

function main(argv: readonly string[]): void {
  const directory = join(moduleDirectory(argv), "api/openapi-spec/v3");
  if (!existsSync(directory)) throw new Error(`${directory} is not there: name the module with --module`);
  const all: Record<string, Schema> = {};
  const pending: string[] = [...META];
  for (const [file, kinds] of Object.entries(KINDS)) {
    const document: OpenApiDocument = JSON.parse(readFileSync(join(directory, `${file}_openapi.json`), "utf8"));
    Object.assign(all, document.components.schemas);
    pending.push(...rootsOf(document, kinds));
  }
  const kept: Record<string, unknown> = {};
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name in kept) continue;
    const names = new Set<string>();
    kept[name] = shorten(all[name], names);
    pending.push(...names);
  }
  const sorted = Object.fromEntries(
    Object.keys(kept)
      .sort()
      .map((name) => [name, kept[name]]),
  );
  const text = `${JSON.stringify(sorted)}\n`;
  writeFileSync(TARGET, text);
  console.log(`${Object.keys(sorted).length} schemas, ${Math.round(text.length / 1024)} KB`);
}

main(process.argv.slice(2));
