import type { JsonObject } from "../json.ts";
import { duplicate, goQuote, invalidValue, notSupported, required } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { asObject, asObjects, asText, asTextMap } from "./json-fields.ts";
import { validateAnnotations, validateLabels } from "./metadata-validation.ts";
import { dnsLabel, dnsSubdomain } from "./names.ts";

/**
 * The mistakes in pod specs that people make, refused as the API server does. Not every rule of the real server is
 * here: what a kubelet would trip over matters less where no kubelet runs.
 */
export function validateTemplate(template: JsonObject, field: string): FieldError[] {
  const metadata = asObject(template.metadata);
  return [
    ...validateLabels(asTextMap(metadata.labels), `${field}.labels`),
    ...validateAnnotations(asTextMap(metadata.annotations), `${field}.annotations`),
    ...validatePodSpec(asObject(template.spec), `${field}.spec`),
  ];
}

export function validatePodSpec(spec: JsonObject, field: string): FieldError[] {
  const volumes = new Set(asObjects(spec.volumes).map((volume) => asText(volume.name)));
  const restart = asText(spec.restartPolicy);
  const containers = asObjects(spec.containers);
  const errors = volumeErrors(asObjects(spec.volumes), `${field}.volumes`);
  if (containers.length === 0) errors.push(required(`${field}.containers`));
  const names = new Set<string>();
  for (const list of ["containers", "initContainers"]) {
    for (const [index, container] of asObjects(spec[list]).entries()) {
      errors.push(...containerErrors(container, `${field}.${list}[${index}]`, { names, volumes }));
    }
  }
  if (!["Always", "OnFailure", "Never"].includes(restart)) {
    errors.push(notSupported(`${field}.restartPolicy`, restart, ["Always", "OnFailure", "Never"]));
  }
  const policies = ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"];
  const dns = asText(spec.dnsPolicy);
  if (!policies.includes(dns)) errors.push(notSupported(`${field}.dnsPolicy`, dns, policies));
  const account = asText(spec.serviceAccountName);
  if (account !== "") {
    errors.push(...dnsSubdomain(account).map((reason) => invalidValue(`${field}.serviceAccountName`, account, reason)));
  }
  return errors;
}

function volumeErrors(volumes: readonly JsonObject[], field: string): FieldError[] {
  const names = new Set<string>();
  return volumes.flatMap((volume, index) => {
    const at = `${field}[${index}]`;
    const name = asText(volume.name);
    const errors: FieldError[] = [];
    if (name === "") errors.push(required(`${at}.name`));
    else errors.push(...dnsLabel(name).map((reason) => invalidValue(`${at}.name`, name, reason)));
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (volume.secret && asText(asObject(volume.secret).secretName) === "") {
      errors.push(required(`${at}.secret.secretName`));
    }
    if (volume.configMap && asText(asObject(volume.configMap).name) === "") {
      errors.push(required(`${at}.configMap.name`));
    }
    return errors;
  });
}

interface PodNames {
  readonly names: Set<string>;
  readonly volumes: ReadonlySet<string>;
}

function containerErrors(container: JsonObject, field: string, { names, volumes }: PodNames): FieldError[] {
  const errors: FieldError[] = [];
  const name = asText(container.name);
  if (name === "") errors.push(required(`${field}.name`));
  else errors.push(...dnsLabel(name).map((reason) => invalidValue(`${field}.name`, name, reason)));
  if (names.has(name)) errors.push(duplicate(`${field}.name`, name));
  else names.add(name);
  const image = asText(container.image);
  if (image === "") errors.push(required(`${field}.image`));
  else if (image !== image.trim()) {
    errors.push(invalidValue(`${field}.image`, image, "must not have leading or trailing whitespace"));
  }
  errors.push(...portErrors(asObjects(container.ports), `${field}.ports`));
  errors.push(...envErrors(container, field));
  const policies = ["Always", "IfNotPresent", "Never"];
  const policy = asText(container.imagePullPolicy);
  if (!policies.includes(policy)) errors.push(notSupported(`${field}.imagePullPolicy`, policy, policies));
  errors.push(...mountErrors(asObjects(container.volumeMounts), `${field}.volumeMounts`, volumes));
  return errors;
}

function portErrors(ports: readonly JsonObject[], field: string): FieldError[] {
  return ports.flatMap((port, index) => {
    const at = `${field}[${index}]`;
    const errors: FieldError[] = [];
    const number = port.containerPort;
    if (number === undefined || number === 0) errors.push(required(`${at}.containerPort`));
    else if (!isPort(number)) errors.push(invalidValue(`${at}.containerPort`, number, PORT_RANGE));
    const protocol = asText(port.protocol);
    if (!["SCTP", "TCP", "UDP"].includes(protocol)) {
      errors.push(notSupported(`${at}.protocol`, protocol, ["SCTP", "TCP", "UDP"]));
    }
    return errors;
  });
}

export const PORT_RANGE = "must be between 1 and 65535, inclusive";
export const isPort = (value: unknown): boolean => typeof value === "number" && value >= 1 && value <= 65535;

const notFound = (field: string, value: string): FieldError => ({
  reason: "FieldValueNotFound",
  message: `Not found: ${goQuote(value)}`,
  field,
});

function mountErrors(mounts: readonly JsonObject[], field: string, volumes: ReadonlySet<string>): FieldError[] {
  const paths = new Set<string>();
  return mounts.flatMap((mount, index) => {
    const at = `${field}[${index}]`;
    const name = asText(mount.name);
    const path = asText(mount.mountPath);
    const errors: FieldError[] = [];
    if (name === "") errors.push(required(`${at}.name`));
    if (!volumes.has(name)) errors.push(notFound(`${at}.name`, name));
    if (path === "") errors.push(required(`${at}.mountPath`));
    if (paths.has(path)) errors.push(invalidValue(`${at}.mountPath`, path, "must be unique"));
    paths.add(path);
    return errors;
  });
}

const ENV_SOURCES = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

function envErrors(container: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, variable] of asObjects(container.env).entries()) {
    const at = `${field}.env[${index}]`;
    if (asText(variable.name) === "") errors.push(required(`${at}.name`));
    if (variable.valueFrom === undefined) continue;
    const source = asObject(variable.valueFrom);
    const given = ENV_SOURCES.filter((name) => source[name] !== undefined);
    if (asText(variable.value) !== "") {
      errors.push(invalidValue(`${at}.valueFrom`, "", "may not be specified when `value` is not empty"));
    } else if (given.length > 1) {
      errors.push(invalidValue(`${at}.valueFrom`, "", "may not have more than one field specified at a time"));
    }
    for (const name of ["configMapKeyRef", "secretKeyRef"]) {
      if (source[name] === undefined) continue;
      const reference = asObject(source[name]);
      if (asText(reference.name) === "") errors.push(required(`${at}.valueFrom.${name}.name`));
      if (asText(reference.key) === "") errors.push(required(`${at}.valueFrom.${name}.key`));
    }
  }
  return errors;
}

/** The names that volumeClaimTemplates add as volumes of their own. */
export const withClaimVolumes = (template: JsonObject, claims: readonly JsonObject[]): JsonObject => {
  if (claims.length === 0) return template;
  const spec = asObject(template.spec);
  const names = claims.map((claim) => asText(asObject(claim.metadata).name));
  const others = asObjects(spec.volumes).filter((volume) => !names.includes(asText(volume.name)));
  return { ...template, spec: { ...spec, volumes: [...names.map((name) => ({ name, emptyDir: {} })), ...others] } };
};
