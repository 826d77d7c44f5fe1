import { getBinding } from "kube-service-bindings";

/**
 * An application: prints what it is bound to, as a public library finds it. Run with the environment of its container; the
 * arguments are the service, the client that is to connect to it, and which of several bindings.
 */
type Read = (service: string, client: string, options: { readonly id: string }) => unknown;

const [service = "", client = "", id = ""] = process.argv.slice(2);
const found = (getBinding as Read)(service, client, { id });
console.log(JSON.stringify({ found, services: JSON.parse(process.env.VCAP_SERVICES ?? "null") }));
