import { type NameUse, OWN_GROUP, ownNames, wordedNames } from "../../src/base/own-names.ts";
import { type ForeignGroup, foreignNames } from "./foreign-names.ts";
import { cell, code, table } from "./table.ts";

/** `docs/reference/annotations.md`: every name that stands on objects, from the tables that declare them. Pure. */
export function namesReference(): string {
  return `${[
    INTRODUCTION,
    "## That people set",
    "The operator reads them, and writes none of them but to answer a request.",
    names(ours.filter(({ use }) => use.by === "people")),
    "## That the operator sets",
    "Leave them alone: what is changed by hand is put back, or taken for damage.",
    names(ours.filter(({ use }) => use.by === "operator")),
    "## While something is taken over",
    "`keyturn import` sets them.",
    names(ours.filter(({ use }) => use.by === "import")),
    "## That others have defined",
    ...foreignNames.flatMap(foreign),
    SERVICE_MANAGER,
  ].join("\n\n")}\n`;
}

const INTRODUCTION = `# Reference: annotations, labels and finalizers

Every name that Keyturn reads or writes on objects of a cluster and on keys at Cloud Foundry, who sets it and what it does, made from the list in the source by \`npm run generate:reference\`; a test compares this page with it, and finds names that are not in the list.`;

const SERVICE_MANAGER = `### Of Kubernetes

What the operator makes bears the recommended labels (\`app.kubernetes.io/name\`, \`component\`, \`instance\`, \`part-of\`, \`managed-by\`); a Namespace that the manifests bring has \`pod-security.kubernetes.io/enforce\`.

### At the Service Manager

Bindings bear the labels \`keyturn_cluster\`, \`keyturn_owner_uid\`, \`keyturn_kind\`, \`keyturn_namespace\`, \`keyturn_name\` and \`keyturn_sequence\`: whose they are, and which number. Its query language takes no dots.`;

interface Named<Use> {
  readonly name: string;
  readonly use: Use;
}

const flat = <Use>(names: Readonly<Record<string, readonly Use[]>>, prefix = ""): readonly Named<Use>[] =>
  Object.entries(names).flatMap(([name, uses]) => uses.map((use) => ({ name: `${prefix}${name}`, use })));

const ours: readonly Named<NameUse>[] = [
  ...flat(ownNames, `${OWN_GROUP}/`),
  ...Object.entries(wordedNames).flatMap(([word, names]) =>
    Object.entries(names).map(([name, use]) => ({ name: `${word}.${OWN_GROUP}/${name}`, use })),
  ),
];

const names = (named: readonly Named<NameUse>[]): string =>
  table(
    ["name", "is", "on", "what it does"],
    named.map(({ name, use }) => [code(name), use.as, cell(use.on), cell(use.about)]),
  );

const foreign = ({ title, about, names: all }: ForeignGroup): readonly string[] => [
  `### ${title}`,
  about,
  table(
    ["name", "is", "on", "set by", "what it does"],
    flat(all).map(({ name, use }) => [code(name), use.as, cell(use.on), use.by, cell(use.about)]),
  ),
];
