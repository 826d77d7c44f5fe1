import { VCAP_SERVICES_KEY } from "../../api/korifi/names.ts";
import { Redacted } from "../../base/redacted.ts";
import { sortedJson } from "../../base/sorted-json.ts";
import { type Credentials, decodeText, textOf } from "../../korifi/credentials.ts";
import { flatten } from "../../korifi/flatten.ts";
import { membersOf } from "../../korifi/json-text.ts";
import { keepsLegacyMount } from "../../korifi/migration.ts";
import type { Binding, Instance, SecretView } from "../../korifi/model.ts";
import { isSameJson } from "../../korifi/same-json.ts";
import { entriesIn } from "../../korifi/vcap.ts";
import { compareResourceVersions } from "../../kube/resource-version.ts";

/** The credentials that were set, and where. */
export interface SetCredentials {
  readonly secretName: string;
  /** Of that Secret, with them in it. */
  readonly version: string;
  readonly credentials: Credentials;
}

/** Whether the instance says that it has seen them, or what came after them. */
export function isSeen({ credentialsName, observedVersion = "" }: Instance, { secretName, version }: SetCredentials) {
  if (credentialsName !== secretName) return false;
  return observedVersion === version || (compareResourceVersions(observedVersion, version) ?? -1) > 0;
}

export interface BoundScene {
  readonly binding: Binding;
  readonly instance: Instance;
  /** The Secret that the binding has projected. */
  readonly mount: SecretView | undefined;
  /** The Secret with VCAP_SERVICES of its application, where it is for one. */
  readonly vcap: SecretView | undefined;
}

/** Whether everything that was to be made from them for this binding is there. */
export function isGivenOut(scene: BoundScene, { secretName, credentials }: SetCredentials): boolean {
  const { binding } = scene;
  if (binding.envName !== secretName || !isMounted(scene, credentials)) return false;
  return binding.appName === undefined || isInVcap(scene, credentials);
}

function isMounted({ binding, instance, mount }: BoundScene, credentials: Credentials): boolean {
  if (mount === undefined) return false;
  const { type, data } = flatten(credentials);
  if (mount.type === type && sortedJson(mount.data.reveal()) === sortedJson(data.reveal())) return true;
  const namesake = mount.name === instance.name ? mount : undefined;
  return keepsLegacyMount({ binding, instance, namesake, credentials });
}

function isInVcap({ binding, vcap }: BoundScene, credentials: Credentials): boolean {
  const text = decodeText(vcap?.data.reveal()[VCAP_SERVICES_KEY] ?? "") ?? "";
  const entry = entriesIn(new Redacted(text)).get(binding.name);
  const said = entry && membersOf(entry.text.reveal()).get("credentials");
  // Whoever sets what is there already, in another order, has written nothing.
  return said !== undefined && isSameJson(said, textOf(credentials).reveal());
}
