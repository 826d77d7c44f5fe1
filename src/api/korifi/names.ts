import { ownName } from "../../base/own-names.ts";

/** The words of Korifi and of the Service Binding specification that stand on objects. */
export const KORIFI_GROUP = "korifi.cloudfoundry.org";
export const KORIFI_VERSION = "v1alpha1";
export const INSTANCE_KIND = "CFServiceInstance";
export const BINDING_KIND = "CFServiceBinding";

export const INSTANCE_TYPES = ["user-provided", "managed"] as const;
export const BINDING_TYPES = ["app", "key"] as const;

/** What a Secret for projection is of: this, and the type of the service. */
export const BINDING_SECRET_PREFIX = "servicebinding.io/";
/** The type of a service whose credentials name none, and its label in VCAP_SERVICES. */
export const USER_PROVIDED = "user-provided";

/** Where an instance's Secret has its credentials, as one JSON object. */
export const CREDENTIALS_KEY = "credentials";
/** Where an application's Secret has its services. */
export const VCAP_SERVICES_KEY = "VCAP_SERVICES";

/** On a Secret that was made from others, so that they can be listed. */
export const DERIVED_LABEL = ownName("derived");
/** On such a Secret: what it was made from (`src/korifi/derived-from.ts`). Whoever uses it uses those. */
export const DERIVED_FROM = ownName("derived-from");
/** On the Secret with an application's services: the name of the application. */
export const SERVICES_OF = ownName("services-of");

/** On the workloads of an application: the name of its CFApp. */
export const APP_GUID_LABEL = `${KORIFI_GROUP}/app-guid`;
/** On a ServiceBinding: the name of the CFServiceBinding that it is for. */
export const BINDING_GUID_LABEL = `${KORIFI_GROUP}/service-binding-guid`;
