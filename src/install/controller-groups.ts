/** Controllers that are usually switched on together, by one name. */
export const controllerGroups: ReadonlyMap<string, readonly string[]> = new Map([
  ["meta", ["cloudfoundry-rotating", "rotating-resource"]],
  ["bind9", ["bind9-provider", "bind9-cluster", "bind9-instance", "bind9-keys"]],
  ["korifi", ["cf-instances", "cf-bindings", "cf-apps"]],
]);
