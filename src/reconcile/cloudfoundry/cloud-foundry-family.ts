import { providerConfig } from "../../api/cloudfoundry/provider-config.ts";
import type { Clock } from "../../base/clock.ts";
import { InvalidValue } from "../../base/errors.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import { isGuid } from "../../providers/cloud-foundry/binding.ts";
import { connectCloudFoundry } from "../../providers/cloud-foundry/cloud-foundry.ts";
import {
  type CloudFoundryCredentials,
  parseCloudFoundryCredentials,
} from "../../providers/cloud-foundry/credentials.ts";
import { RateGate } from "../../providers/cloud-foundry/rate-gate.ts";
import type { KindLimits } from "../managed/crossplane-fields.ts";
import type { Access, CredentialsReference, KeyExtras, ManagedFamily, TargetFields } from "../managed/family.ts";
import { type Fields, fieldsOf, textOf } from "../managed/read-fields.ts";
import type { References } from "../managed/references.ts";
import { keyMetadata } from "./key-metadata.ts";
import { createRotatingCredentialBindingKind } from "./rotating-credential-binding-kind.ts";
import { createServiceCredentialBindingKind, isOfApp } from "./service-credential-binding-kind.ts";

const kindOf = (kind: string, plural: string): ResourceType => ({
  group: "cloudfoundry.crossplane.io",
  version: "v1alpha1",
  plural,
  kind,
  namespaced: false,
});

const instances: TargetFields = {
  type: kindOf("ServiceInstance", "serviceinstances"),
  id: "serviceInstance",
  ref: "serviceInstanceRef",
  selector: "serviceInstanceSelector",
  statusId: "id",
  isId: isGuid,
};

const apps: TargetFields = {
  type: kindOf("App", "apps"),
  id: "app",
  ref: "appRef",
  selector: "appSelector",
  statusId: "guid",
  isId: isGuid,
};

/** ServiceCredentialBindings, whose keys are service keys and bindings of apps at Cloud Foundry. */
export function createCloudFoundryFamily(limits: Partial<KindLimits> = {}): ManagedFamily {
  const gates = new RateGates();
  return {
    name: "cloudfoundry",
    provider: "cloud-foundry",
    kind: createServiceCredentialBindingKind(limits),
    configType: providerConfig,
    parent: createRotatingCredentialBindingKind(limits),
    instances,
    secretsOf,
    open: (access) => {
      const credentials = credentialsOf(access);
      const { http, clock } = access;
      return connectCloudFoundry({ credentials, http, clock, rateGate: gates.of(credentials, clock) });
    },
    parametersOf,
    extrasOf,
  };
}

/** A foundation counts the requests of a user, whichever ProviderConfig they come by: so does its gate. */
class RateGates {
  readonly #gates = new Map<string, RateGate>();

  of({ apiUrl, login }: CloudFoundryCredentials, clock: Clock): RateGate {
    // Whose a token is, nobody can tell: it keeps its pauses for itself.
    if (login.kind === "token") return new RateGate(clock);
    const user = login.kind === "user" ? [login.username, login.origin ?? ""] : [login.clientId];
    const key = JSON.stringify([apiUrl, login.kind, ...user]);
    const gate = this.#gates.get(key) ?? new RateGate(clock);
    this.#gates.set(key, gate);
    return gate;
  }
}

/** The credentials first, and where the API is if a Secret says that. */
function secretsOf(config: KubeObject): readonly [CredentialsReference, ...CredentialsReference[]] {
  const spec = fieldsOf(config.spec);
  const credentials = referenceIn(spec, "credentials");
  const isStated = textOf(spec.apiEndpoint) !== undefined || spec.endpoint === undefined;
  return isStated ? [credentials] : [credentials, referenceIn(spec, "endpoint")];
}

const referenceIn = (spec: Fields, name: string): CredentialsReference => ({
  field: `spec.${name}.secretRef`,
  reference: fieldsOf(fieldsOf(spec[name]).secretRef),
});

function credentialsOf({ config, credentials, others }: Access): CloudFoundryCredentials {
  const spec = fieldsOf(config.spec);
  const origin = textOf(spec.origin);
  const [endpoint] = others;
  const apiUrl = textOf(spec.apiEndpoint) ?? (endpoint && endpointIn(endpoint));
  return parseCloudFoundryCredentials(credentials.data, {
    ...(credentials.key !== undefined && { key: credentials.key }),
    ...(apiUrl !== undefined && { apiUrl }),
    ...(origin !== undefined && { origin }),
    skipTlsVerification: spec.skipTlsVerification === true,
  });
}

function endpointIn({ data, key = "endpoint" }: Access["credentials"]): string {
  const address = textOf(data.reveal()[key]);
  if (address === undefined) throw new InvalidValue(`the Secret of spec.endpoint has no key "${key}"`);
  return address;
}

/** What the spec says counts alone; the Secret is for those who must not say it there. */
async function parametersOf(forProvider: Fields, references: References, signal: AbortSignal): Promise<Fields> {
  if (forProvider.parameters !== undefined) return fieldsOf(forProvider.parameters);
  if (forProvider.paramsSecretRef === undefined) return {};
  const reference = fieldsOf(forProvider.paramsSecretRef);
  const field = "spec.forProvider.paramsSecretRef";
  return textOf(reference.key) === undefined
    ? references.secretFields(reference, field, signal)
    : references.secretJson(reference, field, signal);
}

async function extrasOf(object: KubeObject, references: References, signal: AbortSignal): Promise<KeyExtras> {
  const forProvider = fieldsOf(fieldsOf(object.spec).forProvider);
  const metadata = keyMetadata(object.metadata);
  return isOfApp(forProvider) ? { metadata, appId: await references.idOf(forProvider, apps, signal) } : { metadata };
}
