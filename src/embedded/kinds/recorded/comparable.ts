import { isObject, type Json } from "../../json.ts";
import { asObject, asObjects, asText, without } from "../json-fields.ts";

/**
 * An answer without what differs from server to server: identities, times, managed fields, addresses, and the API token
 * that the real server mounts into every Pod. Long texts are cut: errors never quote them, and nobody would read them.
 */
export function comparable(answer: unknown, { isPatched }: { readonly isPatched: boolean }): Json {
  const body = asObject(answer);
  if (body.kind === "Status") return { ...without(body, "metadata"), message: body.message ?? "" };
  const metadata = without(
    asObject(body.metadata),
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "managedFields",
    "namespace",
  );
  const spec = asObject(body.spec);
  const isPod = body.kind === "Pod";
  const kept = isPod ? withoutToken(spec) : body.kind === "Service" ? without(spec, "clusterIP", "clusterIPs") : spec;
  const whole = { ...body, metadata, ...("spec" in body && { spec: kept }) };
  // Controllers of the real cluster may have written a status between create and patch.
  return shortened(isPatched ? without(whole, "status") : whole);
}

const isToken = (name: unknown): boolean => asText(name).startsWith("kube-api-access-");

function withoutToken(spec: Readonly<Record<string, Json>>): Json {
  const volumes = asObjects(spec.volumes).filter(({ name }) => !isToken(name));
  const containers = asObjects(spec.containers).map((container) => {
    const mounts = asObjects(container.volumeMounts).filter(({ name }) => !isToken(name));
    return { ...without(container, "volumeMounts"), ...(mounts.length > 0 && { volumeMounts: mounts }) };
  });
  return { ...without(spec, "volumes", "nodeName"), containers, ...(volumes.length > 0 && { volumes }) };
}

function shortened(value: Json): Json {
  if (typeof value === "string") return value.length > 1000 ? `${value.slice(0, 20)}…` : value;
  if (Array.isArray(value)) return value.map(shortened);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]));
}
