import { createHash } from "node:crypto";
import type { KubeObject } from "../../kube/objects.ts";
import { type JsonObject, jsonEquals } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import { duplicate, invalidValue, notSupported, required } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { ageColumn, column, formatLabels, nameColumn } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { asNumber, asObject, asObjects, asText, asTexts, fill, mapObjects } from "./json-fields.ts";
import { FIELD_IS_IMMUTABLE } from "./metadata-validation.ts";
import { dnsLabel } from "./names.ts";
import { isPort, PORT_RANGE } from "./pod-spec-validation.ts";

/** Services: stored, with an address that is stable but leads nowhere. */
const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

export const serviceDefinition = (): ResourceDefinition =>
  defineKind({
    plural: "services",
    kind: "Service",
    shortNames: ["svc"],
    categories: ["all"],
    subresources: ["status"],
    validateName: dnsLabel,
    createsOnUpdate: true,
    selectableFields: ["spec.clusterIP", "spec.type"],
    initialStatus: () => ({ loadBalancer: {} }),
    columns: [
      nameColumn,
      column("Type", (object) => asObject(object.spec).type),
      column("Cluster-IP", (object) => asTexts(asObject(object.spec).clusterIPs)[0] ?? "<none>"),
      column("External-IP", externalAddress),
      column("Port(s)", (object) => portsText(asObjects(asObject(object.spec).ports))),
      ageColumn,
      column("Selector", (object) => formatLabels(asObject(object.spec).selector), { wide: true }),
    ],
    applyDefaults: defaultService,
    prepareCreate: (object) => withAddresses(object, undefined),
    prepareUpdate: withAddresses,
    validateCreate: validateService,
    validateUpdate: (object, old) => [...addressErrors(object, old), ...validateService(object)],
  });

function defaultService(object: KubeObject): KubeObject {
  const spec = fill(asObject(object.spec), { sessionAffinity: "None", type: "ClusterIP" });
  const type = asText(spec.type);
  const isExternal = type === "NodePort" || type === "LoadBalancer";
  const filled = fill(spec, {
    ...(type !== "ExternalName" && { internalTrafficPolicy: "Cluster" }),
    ...(isExternal && { externalTrafficPolicy: "Cluster" }),
    ...(type === "LoadBalancer" && { allocateLoadBalancerNodePorts: true }),
    ...(spec.sessionAffinity === "ClientIP" && { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } } }),
  });
  return { ...object, spec: mapObjects(filled, "ports", defaultPort) };
}

function defaultPort(port: JsonObject): JsonObject {
  const target = port.targetPort;
  const filled = fill(port, { protocol: "TCP" });
  return target === undefined || target === 0 || target === "" ? { ...filled, targetPort: port.port ?? 0 } : filled;
}

/** Addresses are kept as long as the type needs one, and derived from the name where a new one is needed. */
function withAddresses(object: KubeObject, old: KubeObject | undefined): KubeObject {
  const spec = asObject(object.spec);
  if (asText(spec.type) === "ExternalName") {
    const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy, ...rest } = spec;
    return { ...object, spec: rest };
  }
  const before = asObject(old?.spec);
  const given = asText(spec.clusterIP) || asTexts(spec.clusterIPs)[0] || asText(before.clusterIP);
  const address = given || addressOf(object);
  const family = address.includes(":") ? "IPv6" : "IPv4";
  const isExternal = spec.type === "NodePort" || spec.type === "LoadBalancer";
  const ports = asObjects(spec.ports).map((port, index) => {
    if (!isExternal || asNumber(port.nodePort) !== 0) return port;
    const kept = asNumber(asObjects(before.ports)[index]?.nodePort);
    return { ...port, nodePort: kept === 0 ? 30000 + (hashOf(object, `port ${index}`) % 2768) : kept };
  });
  // Whoever keeps the endpoints of such a Service by hand may have addresses of both families.
  const isByHand = address === "None" && Object.keys(asObject(spec.selector)).length === 0;
  return {
    ...object,
    spec: {
      ...fill(spec, { ipFamilyPolicy: before.ipFamilyPolicy ?? (isByHand ? "RequireDualStack" : "SingleStack") }),
      clusterIP: address,
      clusterIPs: spec.clusterIPs ?? [address],
      ipFamilies: spec.ipFamilies ?? before.ipFamilies ?? (isByHand ? ["IPv4", "IPv6"] : [family]),
      ...(ports.length > 0 && { ports }),
    },
  };
}

function hashOf({ metadata }: KubeObject, salt: string): number {
  const text = `${metadata.namespace}/${metadata.name}/${salt}`;
  return createHash("sha256").update(text).digest().readUInt32BE(0);
}

/** One of 10.96.0.0/12, as kubeadm's default range is; the first few are left free. */
function addressOf(object: KubeObject): string {
  const number = 256 + (hashOf(object, "address") % (2 ** 20 - 512));
  return `10.${96 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
}

function addressErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const spec = asObject(object.spec);
  const before = asObject(old.spec);
  if (spec.type === "ExternalName" || before.type === "ExternalName") return [];
  if (jsonEquals(spec.clusterIPs, before.clusterIPs)) return [];
  return [invalidValue("spec.clusterIPs[0]", spec.clusterIPs, FIELD_IS_IMMUTABLE)];
}

function validateService(object: KubeObject): FieldError[] {
  const spec = asObject(object.spec);
  const type = asText(spec.type);
  const ports = asObjects(spec.ports);
  const errors: FieldError[] = [];
  const isHeadless = spec.clusterIP === "None";
  if (ports.length === 0 && !isHeadless && type !== "ExternalName") errors.push(required("spec.ports"));
  if (isHeadless && (type === "LoadBalancer" || type === "NodePort")) {
    const detail = "may not be set to 'None' for LoadBalancer services".replace("LoadBalancer", type);
    errors.push(invalidValue("spec.clusterIPs[0]", "None", detail));
  }
  if (type === "ExternalName" && asText(spec.externalName) === "") errors.push(required("spec.externalName"));
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    errors.push(...portErrors(port, `spec.ports[${index}]`, { names, needsName: ports.length > 1 }));
  }
  const seen = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const key = `${port.protocol}/${port.port}`;
    if (seen.has(key)) errors.push(duplicate(`spec.ports[${index}]`, { port: port.port, protocol: port.protocol }));
    seen.add(key);
  }
  if (!TYPES.includes(type)) errors.push(notSupported("spec.type", type, TYPES));
  const affinity = asText(spec.sessionAffinity);
  if (affinity !== "None" && affinity !== "ClientIP") {
    errors.push(notSupported("spec.sessionAffinity", affinity, ["ClientIP", "None"]));
  }
  return errors;
}

interface PortNames {
  readonly names: Set<string>;
  readonly needsName: boolean;
}

function portErrors(port: JsonObject, field: string, { names, needsName }: PortNames): FieldError[] {
  const errors: FieldError[] = [];
  const name = asText(port.name);
  if (name === "") {
    if (needsName) errors.push(required(`${field}.name`));
  } else {
    errors.push(...dnsLabel(name).map((reason) => invalidValue(`${field}.name`, name, reason)));
    if (names.has(name)) errors.push(duplicate(`${field}.name`, name));
    names.add(name);
  }
  if (!isPort(port.port)) errors.push(invalidValue(`${field}.port`, asNumber(port.port), PORT_RANGE));
  const protocol = asText(port.protocol);
  const protocols = ["SCTP", "TCP", "UDP"];
  if (!protocols.includes(protocol)) errors.push(notSupported(`${field}.protocol`, protocol, protocols));
  if (typeof port.targetPort === "number" && !isPort(port.targetPort)) {
    errors.push(invalidValue(`${field}.targetPort`, port.targetPort, PORT_RANGE));
  }
  return errors;
}

function externalAddress(object: KubeObject): string {
  const spec = asObject(object.spec);
  const given = asTexts(spec.externalIPs);
  if (spec.type === "ExternalName") return asText(spec.externalName);
  if (spec.type !== "LoadBalancer") return given.length === 0 ? "<none>" : given.join(",");
  const ingress = asObjects(asObject(asObject(object.status).loadBalancer).ingress);
  const all = [...ingress.map(({ ip, hostname }) => asText(ip) || asText(hostname)).sort(), ...given];
  return all.length === 0 ? "<pending>" : all.join(",");
}

function portsText(ports: readonly JsonObject[]): string {
  if (ports.length === 0) return "<none>";
  return ports
    .map(({ port, nodePort, protocol }) => `${port}${asNumber(nodePort) > 0 ? `:${nodePort}` : ""}/${protocol}`)
    .join(",");
}
