import { rndcKeyFields } from "../../src/api/bind/rndc-key-fields.ts";
import { conditions } from "../../src/api/crossplane.ts";
import type { CustomResource } from "../../src/api/custom-resource.ts";
import type { Rule } from "../../src/api/duration-rules.ts";
import { rotation, rotationOrInterval } from "../../src/api/rotation.ts";
import type { SchemaNode } from "../../src/api/schema.ts";
import { sortedJson } from "../../src/base/sorted-json.ts";
import { anchorOf } from "./anchor.ts";
import { cell } from "./table.ts";

/**
 * The API reference as Markdown, made from the very schemas that the API server enforces, so that neither can say what the
 * other does not. What stands at many places is told once and referred to. Pure.
 */
interface Shared {
  readonly title: string;
  readonly about: string;
  readonly node: SchemaNode;
}

const itemsOf = (node: SchemaNode): SchemaNode => (node.items ?? {}) as SchemaNode;
const propertiesOf = (node: SchemaNode): Readonly<Record<string, SchemaNode>> | undefined =>
  node.properties as Readonly<Record<string, SchemaNode>> | undefined;

const shared: readonly Shared[] = [
  {
    title: "RndcKeyConfig",
    about:
      "`rndcKeys`, and its other word `rndcKey`: see [RNDC keys of BIND 9](bind.md#rndckeyconfig-api-reference) for what each field does, with examples.",
    node: rndcKeyFields.rndcKeys ?? {},
  },
  {
    title: "RndcSecretRef",
    about: "A Secret with a key that somebody else looks after.",
    node: rndcKeyFields.rndcSecretRef ?? {},
  },
  { title: "Rotation", about: "When keys are replaced and removed.", node: rotation },
  {
    title: "RotationOrInterval",
    about: "The same, where the frequency may be called an interval.",
    node: rotationOrInterval,
  },
  { title: "Condition", about: "What is known of a resource.", node: itemsOf(conditions) },
];

const signatureOf = (node: SchemaNode): string => sortedJson(propertiesOf(node));
const sharedBySignature = new Map(shared.map((each) => [signatureOf(each.node), each]));

/** Guides by group: where the examples are. */
const guides: Readonly<Record<string, string>> = {
  "account.btp.sap.crossplane.io": "[SAP BTP service bindings](service-bindings.md)",
  "cloudfoundry.crossplane.io": "[Cloud Foundry service keys](cloud-foundry.md)",
  "bindy.firestoned.io": "[RNDC keys of BIND 9](bind.md)",
  "korifi.cloudfoundry.org": "[Service credentials for applications](korifi.md)",
};
const guidesByKind: Readonly<Record<string, string>> = {
  RndcKey: "[RNDC keys of BIND 9](bind.md)",
  RotatingResource: "[Any resource that publishes a Secret](rotating-resources.md)",
  RotationClass: "[Any resource that publishes a Secret](rotating-resources.md#what-an-administrator-writes)",
};

interface Field {
  readonly path: string;
  readonly node: SchemaNode;
  readonly isRequired: boolean;
  /** Told elsewhere. */
  readonly link: Shared | undefined;
}

export function apiReference(resources: readonly CustomResource[]): string {
  const parts = [
    INTRODUCTION,
    "## Kinds, with guides and examples",
    [INDEX_HEAD, ...resources.map(indexRow)].join("\n"),
    "## Deprecated fields",
    deprecated(resources),
    "## All fields",
    "A section for each kind, then the types that several of them have.",
    ...resources.map(kindSection),
    "## Shared types",
    ...shared.map(sharedSection),
  ];
  return `${parts.join("\n\n")}\n`;
}

const INTRODUCTION = `# API reference

Every field of every kind that Keyturn brings along, made from the schemas by \`npm run generate:reference\`; a test compares this page with them. \`kubectl explain\` says the same on a cluster. A field that is not required may be left out. A duration is a Go duration with days and weeks (\`336h\`, \`14d\`, \`1h30m\`); an instant is RFC 3339.`;

const INDEX_HEAD = `| kind | API version | short | scope | guide, with examples |
| --- | --- | --- | --- | --- |`;

const titleOf = ({ kind, group }: CustomResource, isAlone: boolean): string => (isAlone ? kind : `${kind} (${group})`);
/** There are two kinds of one name. */
const TWICE = new Set(["ProviderConfig"]);
const headingOf = (resource: CustomResource): string => titleOf(resource, !TWICE.has(resource.kind));

function indexRow(resource: CustomResource): string {
  const { kind, group, version, shortNames = [], namespaced } = resource;
  const names = shortNames.map((name) => `\`${name}\``).join(", ");
  const guide = guidesByKind[kind] ?? guides[group] ?? "";
  const heading = headingOf(resource);
  return `| [${kind}](#${anchorOf(heading)}) | \`${group}/${version}\` | ${names} | ${namespaced ? "namespace" : "cluster"} | ${guide} |`;
}

function kindSection(resource: CustomResource): string {
  const { kind, group, version, plural, namespaced, spec, status } = resource;
  const head = `\`${plural}.${group}\`, version \`${version}\`, ${namespaced ? "in a namespace" : "in the whole cluster"}.`;
  return [
    `## ${headingOf(resource)}`,
    head,
    `### ${kind} spec (${version}, ${group})`,
    table(fieldsOf(spec)),
    ...rulesList(spec),
    ...(status ? [`### ${kind} status (${version}, ${group})`, table(fieldsOf(status))] : []),
  ].join("\n\n");
}

const sharedSection = ({ title, about, node }: Shared): string =>
  [`### ${title}`, about, table(fieldsOf(node)), ...rulesList(node)].join("\n\n");

const rulesList = (node: SchemaNode): readonly string[] => {
  const rules = rulesOf(node);
  return rules.length === 0
    ? []
    : [`Rules of the whole, as the API server says them:\n\n${rules.map((rule) => `- ${rule}`).join("\n")}`];
};

/** Of all below a node, in the order in which they are written down. */
function fieldsOf(node: SchemaNode, path = ""): readonly Field[] {
  const required = new Set((node.required ?? []) as readonly string[]);
  return Object.entries(propertiesOf(node) ?? {}).flatMap(([name, child]) => {
    const childPath = path === "" ? name : `${path}.${name}`;
    const inner = child.type === "array" ? itemsOf(child) : child;
    const link = propertiesOf(inner) && sharedBySignature.get(signatureOf(inner));
    const field: Field = { path: childPath, node: child, isRequired: required.has(name), link };
    return link ? [field] : [field, ...fieldsOf(inner, child.type === "array" ? `${childPath}[]` : childPath)];
  });
}

const table = (fields: readonly Field[]): string =>
  ["| field | type | what it is |", "| --- | --- | --- |", ...fields.map(row)].join("\n");

function row({ path, node, isRequired, link }: Field): string {
  const words = [
    isRequired ? "**Required.**" : "",
    sentence(String(node.description ?? itemsOf(node).description ?? "")),
    link ? "" : limitsOf(node),
    node.default === undefined ? "" : `Default \`${JSON.stringify(node.default)}\`.`,
  ].filter((word) => word !== "");
  const type = link ? `[${link.title}](#${anchorOf(link.title)})${node.type === "array" ? " list" : ""}` : typeOf(node);
  return `| \`${path}\` | ${type} | ${cell(words.join(" "))} |`;
}

const isDuration = (node: SchemaNode): boolean =>
  messagesOf(node).some(({ message }) => message.startsWith(OF_DURATIONS));

function typeOf(node: SchemaNode): string {
  if (node.type === "array") return `list of ${typeOf(itemsOf(node))}`;
  if (node.additionalProperties !== undefined) return "map of text";
  if (Array.isArray(node.enum)) return node.enum.map((value) => `\`${value}\``).join(", ");
  if (isDuration(node)) return "duration";
  if (node.format === "date-time") return "instant";
  if (node.type === "string") return "text";
  if (node["x-kubernetes-preserve-unknown-fields"] === true && !propertiesOf(node)) return "anything";
  return String(node.type);
}

/** What is refused beyond the type, in words. */
function limitsOf(node: SchemaNode): string {
  const { minimum, maximum, maxItems, maxProperties } = node;
  const said = [
    ...(minimum !== undefined || maximum !== undefined ? [`from ${minimum ?? "any"} to ${maximum ?? "any"}`] : []),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
    ...(maxProperties === undefined ? [] : [`at most ${maxProperties} entries`]),
    ...rulesOf(node),
  ];
  return said.length === 0 ? "" : `(${said.join(" · ")})`;
}

const OF_DURATIONS = "must be a duration: ";
/** What holds for every duration is told once, at the top. */
const isTold = (message: string): boolean =>
  message.startsWith(OF_DURATIONS) || message.includes("must be at least a microsecond");

function messagesOf(node: SchemaNode): readonly { readonly message: string; readonly field: string | undefined }[] {
  const rules = (node["x-kubernetes-validations"] ?? []) as readonly Rule[];
  return rules.flatMap(({ message, fieldPath }) => (message ? [{ message, field: fieldPath?.slice(1) }] : []));
}

/** What the API server says of what it refuses, with the field where it is another one. */
function rulesOf(node: SchemaNode): readonly string[] {
  const told = messagesOf(node).filter(({ message }) => !isTold(message));
  return [
    ...new Set(told.map(({ message, field }) => cell(field === undefined ? message : `\`${field}\`: ${message}`))),
  ];
}

const sentence = (text: string): string => (text === "" || /[.:]$/.test(text) ? text : `${text}.`);

function deprecated(resources: readonly CustomResource[]): string {
  const rows = resources.flatMap(({ kind, spec }) =>
    fieldsOf(spec)
      .filter(({ node }) => String(node.description ?? "").startsWith("Deprecated"))
      .map(({ path, node }) => `| ${kind} | \`spec.${path}\` | ${cell(sentence(String(node.description)))} |`),
  );
  return ["| kind | field | what to say instead |", "| --- | --- | --- |", ...rows].join("\n");
}
