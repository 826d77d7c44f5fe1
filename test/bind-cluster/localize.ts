import { NAMED_CONF } from "../../src/bind/named-conf.ts";
import { CONTROL_PORT } from "../../src/bind/render-ring.ts";
import { localFiles } from "../../src/cli/sandbox/local-files.ts";
import { HOST, ZONE } from "../rndc/named-stage.ts";

/** Where on this machine a pod has what it has under other paths and on all addresses. */
export interface Locality {
  /** Folders by the paths that they are mounted under. */
  readonly folders: ReadonlyMap<string, string>;
  /** The pod's own, which is for its control channel: named asks for DNS on addresses of interfaces alone. */
  readonly address: string;
  /** Where the control channel is in truth, when somebody stands between it and the pod's address. */
  readonly controlAddress: string;
  /** On the one address of loopback that is that of an interface. */
  readonly dnsPort: number;
  /** The file of a zone, which named.conf is to have. */
  readonly zoneFile: string;
}

/** The files of a volume, as `keyturn up` has them; and a zone, which comes from somebody else, who names the updaters. */
export function localized(files: Readonly<Record<string, string>>, place: Locality): Readonly<Record<string, string>> {
  const { folders, controlAddress, dnsPort, zoneFile } = place;
  const control = { address: controlAddress, port: CONTROL_PORT };
  const local = localFiles(files, { folders, endpoints: { control, dns: { address: HOST, port: dnsPort } } });
  const conf = local[NAMED_CONF];
  if (conf === undefined) return local;
  const zone = `zone "${ZONE}" { type primary; file "${zoneFile}"; allow-update { "keyturn-updaters"; }; };\n`;
  return { ...local, [NAMED_CONF]: `${conf}${zone}` };
}
