import { parseAllDocuments } from "yaml";
import { InvalidValue } from "../../base/errors.ts";
import { apiVersionOf, type KubeObject } from "../../kube/objects.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { fieldsOf, itemsOf, textOf } from "../../reconcile/managed/read-fields.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import type { World } from "../command.ts";
import { textIn } from "../input-file.ts";
import { choices } from "../resources/find-kind.ts";

export interface Manifest {
  readonly kind: ManagedKind;
  /** As it would be applied: without what a cluster has added. */
  readonly object: KubeObject;
}

/** The manifests of managed kinds in a file, or in what is piped in (`-`). Others in it are passed over. */
export async function readManifests(file: string, world: World): Promise<readonly Manifest[]> {
  const text = await textIn(file, world);
  const found = documentsIn(file, text).flatMap(manifestsIn);
  if (found.length > 0) return found;
  throw new InvalidValue(`${file}: there is nothing in it that Keyturn rotates (${choices()})`);
}

function documentsIn(file: string, text: string): readonly unknown[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => {
    const [mistake] = document.errors;
    if (mistake) {
      const line = mistake.linePos?.[0].line;
      const [what = ""] = mistake.message.split(/ at line|\n/);
      throw new InvalidValue(`${file}${line === undefined ? "" : `, line ${line}`}: this is not YAML: ${what}`);
    }
    return document.toJS() as unknown;
  });
}

function manifestsIn(document: unknown): readonly Manifest[] {
  const fields = fieldsOf(document);
  if (fields.kind === "List") return itemsOf(fields.items).flatMap(manifestsIn);
  const kind = managedKinds.find(({ type }) => type.kind === fields.kind && apiVersionOf(type) === fields.apiVersion);
  if (!kind) return [];
  const { name, namespace } = fieldsOf(fields.metadata);
  const object: KubeObject = {
    apiVersion: apiVersionOf(kind.type),
    kind: kind.type.kind,
    metadata: { name: textOf(name) ?? "(no name)", ...(textOf(namespace) && { namespace: String(namespace) }) },
    spec: fields.spec,
  };
  return [{ kind, object }];
}
