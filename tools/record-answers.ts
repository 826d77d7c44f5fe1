import { writeFileSync } from "node:fs";
import { systemClock } from "../src/base/clock.ts";
import { builtInDefinitions } from "../src/embedded/kinds/built-in-definitions.ts";
import { asObject, asObjects, without } from "../src/embedded/kinds/json-fields.ts";
import { type RecordedCase, recordedCases } from "../src/embedded/kinds/recorded/cases.ts";
import { comparable } from "../src/embedded/kinds/recorded/comparable.ts";
import { accessFromKubeconfig, openTransport } from "../src/kube/cluster-access.ts";
import type { Transport } from "../src/kube/transport.ts";

/**
 * Asks a real API server what it answers to the requests in `src/embedded/kinds/recorded/cases.ts`, and writes that to
 * `answers.generated.json` beside it, along with how each kind is served. Everything but the objects that patches need is a dry run, in the namespace
 * `default`; those objects are deleted again.
 *
 *   node tools/record-answers.ts --kubeconfig <file>
 */
const TARGET = new URL("../src/embedded/kinds/recorded/answers.generated.json", import.meta.url);

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Request {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: object;
  readonly accept?: string;
}

async function send(
  transport: Transport,
  { method, path, body, accept = "application/json" }: Request,
): Promise<Answer> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const headers = { "content-type": type, accept };
  const response = await transport.send({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { status: response.status, body: JSON.parse(Buffer.concat(chunks).toString()) };
}

const CLUSTER_SCOPED = ["namespaces", "admissionregistration.k8s.io"];

function urlOf({ path }: RecordedCase): string {
  const [group, version, plural = ""] = path.split("/");
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const isCluster = CLUSTER_SCOPED.some((name) => name === plural || name === group);
  return isCluster ? `${root}/${plural}` : `${root}/namespaces/default/${plural}`;
}

async function record(transport: Transport, one: RecordedCase): Promise<Answer> {
  const path = urlOf(one);
  const dryRun = "dryRun=All&fieldValidation=Ignore";
  if (!one.given) return send(transport, { method: "POST", path: `${path}?${dryRun}`, body: one.body });
  const object = `${path}/${one.given.metadata.name}`;
  const made = await send(transport, { method: "POST", path, body: one.given });
  if (made.status !== 201) throw new Error(`${one.reason}: cannot make the object: ${JSON.stringify(made.body)}`);
  try {
    return await send(transport, { method: "PATCH", path: `${object}?${dryRun}`, body: one.body });
  } finally {
    await send(transport, { method: "DELETE", path: `${object}?gracePeriodSeconds=0&propagationPolicy=Background` });
  }
}

/** How each kind is served: its discovery entry, and the columns it prints. */
async function recordKinds(transport: Transport): Promise<Record<string, unknown>> {
  const kinds: Record<string, unknown> = {};
  for (const { group, version, plural } of builtInDefinitions()) {
    const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    const { body: list } = await send(transport, { method: "GET", path: root });
    const resources = asObjects(asObject(list).resources);
    const own = resources.find(({ name }) => name === plural);
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const { body: table } = await send(transport, { method: "GET", path: `${root}/${plural}?limit=1`, accept });
    kinds[`${group}/${version}/${plural}`] = {
      resource: without(asObject(own), "storageVersionHash"),
      columns: asObjects(asObject(table).columnDefinitions).map((column) => without(column, "description")),
    };
  }
  return kinds;
}

async function main(argv: readonly string[]): Promise<void> {
  const path = argv[argv.indexOf("--kubeconfig") + 1] ?? "";
  const access = await accessFromKubeconfig({ paths: path, clock: systemClock, environment: process.env });
  const transport = openTransport(access);
  const answers: Record<string, Answer> = {};
  for (const one of recordedCases) {
    const key = `${one.path}: ${one.reason}`;
    if (key in answers) throw new Error(`two cases are called ${key}`);
    const { status, body } = await record(transport, one);
    answers[key] = { status, body: comparable(body, { isPatched: one.given !== undefined }) };
  }
  const kinds = await recordKinds(transport);
  await transport.close();
  writeFileSync(TARGET, `${JSON.stringify({ answers, kinds }, undefined, 1)}\n`);
  console.log(`${recordedCases.length} answers, ${Object.keys(kinds).length} kinds`);
}

await main(process.argv.slice(2));
