import { isObject, type Json, type JsonObject } from "../json.ts";
import { asObject, asText, fill, mapObject, mapObjects } from "./json-fields.ts";

/**
 * Defaults of pod specs, as every kind that holds a pod template gets them. Pure. Must not: default what the server
 * fills in only on Pods themselves; that is `pod.ts`.
 */
export function defaultTemplate(owner: JsonObject): JsonObject {
  const template = asObject(owner.template);
  const spec = defaultPodSpec(asObject(template.spec));
  return { ...owner, template: { ...template, metadata: asObject(template.metadata), spec } };
}

export function defaultPodSpec(spec: JsonObject): JsonObject {
  let filled = fill(spec, {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
  });
  for (const list of ["containers", "initContainers", "ephemeralContainers"]) {
    filled = mapObjects(filled, list, defaultContainer);
  }
  filled = mapObjects(filled, "volumes", defaultVolume);
  // The deprecated name is kept equal to the present one.
  const account = asText(filled.serviceAccountName) || asText(filled.serviceAccount);
  return account === "" ? filled : { ...filled, serviceAccountName: account, serviceAccount: account };
}

function defaultContainer(container: JsonObject): JsonObject {
  let filled = fill(container, {
    imagePullPolicy: pullPolicyOf(asText(container.image)),
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    resources: {},
  });
  filled = mapObjects(filled, "ports", (port) => fill(port, { protocol: "TCP" }));
  filled = mapObjects(filled, "env", defaultEnv);
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    filled = mapObject(filled, probe, defaultProbe);
  }
  return mapObject(filled, "lifecycle", (lifecycle) =>
    mapObject(mapObject(lifecycle, "postStart", defaultHandler), "preStop", defaultHandler),
  );
}

/** A tag of `latest`, said or implied, is always pulled; a digest pins the image. */
function pullPolicyOf(image: string): string {
  const name = image.slice(image.lastIndexOf("/") + 1);
  if (name.includes("@")) return "IfNotPresent";
  const tag = name.includes(":") ? name.slice(name.indexOf(":") + 1) : "latest";
  return tag === "latest" ? "Always" : "IfNotPresent";
}

/** A `value` of "" is the same as none, and none is how it is stored. */
function defaultEnv(variable: JsonObject): JsonObject {
  const { value, ...rest } = variable;
  const kept = value === "" ? rest : variable;
  return mapObject(kept, "valueFrom", (source) =>
    mapObject(source, "fieldRef", (reference) => fill(reference, { apiVersion: "v1" })),
  );
}

function defaultHandler(handler: JsonObject): JsonObject {
  return mapObject(handler, "httpGet", (get) => fill(get, { path: "/", scheme: "HTTP" }));
}

function defaultProbe(probe: JsonObject): JsonObject {
  const defaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  const zeroes = Object.entries(defaults).filter(([key]) => !probe[key]);
  const filled = zeroes.length === 0 ? probe : { ...probe, ...Object.fromEntries(zeroes) };
  return mapObject(defaultHandler(filled), "grpc", (grpc) => ("service" in grpc ? grpc : { ...grpc, service: "" }));
}

const DEFAULT_MODE = 0o644;

function defaultVolume(volume: JsonObject): JsonObject {
  const sources = Object.entries(volume).filter(([key, value]) => key !== "name" && isObject(value));
  if (sources.length === 0) return { ...volume, emptyDir: {} };
  let filled = volume;
  for (const source of ["secret", "configMap", "downwardAPI", "projected"]) {
    filled = mapObject(filled, source, (inner) => fill(inner, { defaultMode: DEFAULT_MODE }));
  }
  filled = mapObject(filled, "hostPath", (path) => ("type" in path ? path : { ...path, type: "" }));
  filled = mapObject(filled, "downwardAPI", defaultDownwardItems);
  return mapObject(filled, "projected", (projected) => mapObjects(projected, "sources", defaultProjection));
}

const defaultDownwardItems = (source: JsonObject): JsonObject =>
  mapObjects(source, "items", (item) => mapObject(item, "fieldRef", (field) => fill(field, { apiVersion: "v1" })));

function defaultProjection(source: JsonObject): JsonObject {
  const token = mapObject(source, "serviceAccountToken", (inner) => fill(inner, { expirationSeconds: 3600 }));
  return mapObject(token, "downwardAPI", defaultDownwardItems);
}

/** Requests default to limits, on Pods only. */
export function defaultRequests(container: JsonObject): JsonObject {
  return mapObject(container, "resources", (resources) => {
    const limits = asObject(resources.limits);
    if (Object.keys(limits).length === 0) return resources;
    const requests: Record<string, Json> = { ...limits, ...asObject(resources.requests) };
    return { ...resources, requests };
  });
}
