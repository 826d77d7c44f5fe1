import type { CustomResource } from "../custom-resource.ts";
import { rndcKey } from "../keyturn/rndc-key.ts";
import { bind9Cluster } from "./bind9-cluster.ts";
import { bind9Instance } from "./bind9-instance.ts";
import { clusterBind9Provider } from "./cluster-bind9-provider.ts";

/** The kinds for the keys of BIND 9. */
export const bindResources: readonly CustomResource[] = [clusterBind9Provider, bind9Cluster, bind9Instance, rndcKey];
