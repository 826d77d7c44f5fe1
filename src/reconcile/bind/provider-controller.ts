import { clusterBind9Provider } from "../../api/bind/cluster-bind9-provider.ts";
import type { Controller } from "../../runtime/controller.ts";
import { type BindSettings, createBindController, ownersIn } from "./bind-controller.ts";
import { ProviderLook } from "./provider-reconcile.ts";

export const createProviderController = (settings: BindSettings): Controller =>
  createBindController({
    name: "bind9-provider",
    type: clusterBind9Provider,
    settings,
    find: (caches, key) => caches.provider(key),
    concerns: {
      providers: ({ key }) => [key],
      // Also those who would make one of that name.
      clusters: (delta) => [
        ...new Set([...ownersIn(delta, "ClusterBind9Provider"), delta.key.slice(delta.key.indexOf("/") + 1)]),
      ],
    },
    createLooker: ({ caches, objects }) =>
      new ProviderLook({ caches, objects, operatorNamespace: settings.namespace, limits: settings }),
  });
