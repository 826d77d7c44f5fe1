import { serviceBinding } from "../../../api/btp/service-binding.ts";
import { formatDuration, parseDuration } from "../../../base/duration.ts";
import { InvalidValue } from "../../../base/errors.ts";
import { parseInstant } from "../../../base/instant.ts";
import { ownName } from "../../../base/own-names.ts";
import type { RetiredKey } from "../../../engine/model.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../../kube/objects.ts";
import { recordOf, recordsIn } from "../../../kube/record.ts";
import { ANNOTATIONS, FINALIZER } from "../../../reconcile/managed/managed-kind.ts";
import { textOf } from "../../../reconcile/managed/read-fields.ts";
import { IMPORTING } from "../plan.ts";

export const SAP_GROUP = "services.cloud.sap.com";

export const sapBindingType: ResourceType = {
  group: SAP_GROUP,
  version: "v1",
  plural: "servicebindings",
  kind: "ServiceBinding",
  namespaced: true,
};

/** Labels of a binding that was rotated away: the id of its key, and whose predecessor it is. */
const STALE = `${SAP_GROUP}/stale`;
const ROTATION_OF = `${SAP_GROUP}/rotationOf`;
export const FORCE = `${SAP_GROUP}/forceRotate`;
export const SAP_FINALIZER = `${SAP_GROUP}/sap-btp-finalizer`;
const ROTATION_UNDER_WAY = "CredRotationInProgress";

/** On ours: the UID of the object that it was made from, for good. */
export const IMPORTED_FROM = ownName("imported-from");

/** A binding of SAP's operator, in the words that the plan needs. Pure. */
interface SapBinding {
  readonly bindingId: string | undefined;
  readonly instanceId: string | undefined;
  readonly isReady: boolean;
  /** Something is being done about it at the service. */
  readonly isBusy: boolean;
  /** Of a rotated one: the name of its successor. */
  readonly staleOf: string | undefined;
  readonly isStale: boolean;
}

export function readSapBinding({ metadata, status }: KubeObject): SapBinding {
  const { bindingID, instanceID, ready, operationURL, conditions } = recordOf(status);
  const { labels = {} } = metadata;
  const isRotating = recordsIn(conditions).some((one) => one.type === ROTATION_UNDER_WAY && one.status === "True");
  return {
    bindingId: textOf(bindingID),
    instanceId: textOf(instanceID),
    isReady: ready === "True",
    isBusy: isRotating || textOf(operationURL) !== undefined,
    isStale: labels[STALE] !== undefined,
    staleOf: textOf(labels[ROTATION_OF]),
  };
}

/** Ours has no namespace: both names in one. */
export const ourName = ({ metadata: { namespace, name } }: KubeObject): string => `${namespace}-${name}`;

/**
 * The same binding in our words. Its Secret keeps the layout that SAP's libraries read. Throws `InvalidValue` for a period
 * that is none.
 */
export function ourBinding(theirs: KubeObject, providerConfig: string): KubeObject {
  const spec = recordOf(theirs.spec);
  const { namespace = "", name, uid = "" } = theirs.metadata;
  const { bindingId = "", instanceId = "" } = readSapBinding(theirs);
  const secretKey = textOf(spec.secretRootKey) ?? textOf(spec.secretKey);
  // Under a root key everything is one JSON text, which is the nearest that we have; the plan says what differs.
  const isRooted = textOf(spec.secretRootKey) !== undefined;
  const rotation = rotationOf(spec);
  const secretRefs = recordsIn(spec.parametersFrom).map((one) => {
    const { name: secret, key } = recordOf(one.secretKeyRef);
    return { name: secret, namespace, key };
  });
  return {
    apiVersion: apiVersionOf(serviceBinding),
    kind: serviceBinding.kind,
    metadata: {
      name: ourName(theirs),
      annotations: {
        [ANNOTATIONS.externalName]: bindingId,
        [ANNOTATIONS.paused]: "true",
        [IMPORTING]: "sap-btp-operator",
        [IMPORTED_FROM]: uid,
      },
      finalizers: [FINALIZER],
    },
    spec: {
      ...(rotation && { rotation }),
      providerConfigRef: { name: providerConfig },
      forProvider: {
        name: textOf(spec.externalName) ?? name,
        serviceInstanceId: instanceId,
        ...(spec.parameters !== undefined && { parameters: spec.parameters }),
        ...(secretRefs.length > 0 && { parameterSecretRefs: secretRefs }),
      },
      ...(secretKey !== undefined && { secretKey }),
      ...(!isRooted && { secretFormat: "sap-kubernetes" }),
      writeConnectionSecretToRef: { namespace, name: textOf(spec.secretName) ?? name },
    },
  };
}

/** There the second period is how long the old key lives beside the new one; ours is how long a key lives in all. */
function rotationOf(spec: Readonly<Record<string, unknown>>): { frequency: string; ttl: string } | undefined {
  const policy = recordOf(spec.credentialsRotationPolicy);
  if (policy.enabled !== true) return undefined;
  const frequency = textOf(policy.rotationFrequency);
  if (frequency === undefined) throw new InvalidValue("credentialsRotationPolicy.rotationFrequency is missing");
  const frequencyMs = parseDuration(frequency, { positive: true });
  return { frequency, ttl: formatDuration(frequencyMs + overlapMs(policy)) };
}

/** Nothing said: the old one goes as soon as the new one is there. */
const overlapMs = ({ rotatedBindingTTL: said }: Readonly<Record<string, unknown>>): number =>
  typeof said === "string" && said !== "" ? parseDuration(said) : 0;

/** A rotated one, which is kept for `rotatedBindingTTL` after it was set aside. Throws `InvalidValue`. */
export function retiredBinding(stale: KubeObject): RetiredKey | undefined {
  const { bindingId } = readSapBinding(stale);
  if (bindingId === undefined) return undefined;
  const setAsideAt = parseInstant(stale.metadata.creationTimestamp) ?? 0;
  const keptMs = overlapMs(recordOf(recordOf(stale.spec).credentialsRotationPolicy));
  return {
    id: bindingId,
    name: stale.metadata.name,
    createdAt: setAsideAt,
    retiredAt: setAsideAt,
    replacedAt: setAsideAt,
    overlapMs: keptMs,
    deletionAt: setAsideAt + keptMs,
    cause: "rotated",
  };
}
