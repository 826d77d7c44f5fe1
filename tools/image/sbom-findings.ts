import { bundledPackages, type LockFile, shippedPackages } from "./shipped-packages.ts";

/** What is read of a CycloneDX document. */
export interface Sbom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: SbomComponent };
  readonly components: readonly SbomComponent[];
}

interface SbomComponent {
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly { readonly license?: { readonly id?: string }; readonly expression?: string }[];
  readonly hashes?: readonly unknown[];
}

/** What the document leaves out, or should not say. `imported` are the packages that the page is built from. Pure. */
export function sbomFindings(sbom: Sbom, lock: LockFile, imported: readonly string[]): readonly string[] {
  const listed = new Map(sbom.components.map((component) => [labelOf(component), component]));
  const shipped = [...shippedPackages(lock), ...bundledPackages(lock, imported)];
  const own = lock.packages[""];
  return [
    ...(sbom.bomFormat === "CycloneDX" ? [] : ["not CycloneDX"]),
    ...(labelOf(sbom.metadata.component) === `keyturn@${own?.version}` ? [] : ["speaks of another program"]),
    ...shipped.flatMap((wanted) => componentFindings(labelOf(wanted), wanted.license, listed.get(labelOf(wanted)))),
    ...[...listed.keys()]
      .filter((label) => !shipped.some((wanted) => labelOf(wanted) === label))
      .map((label) => `${label} does not ship`),
    ...hostsIn(JSON.stringify(sbom)).map((host) => `names the host ${host}`),
  ];
}

function componentFindings(label: string, license: string | undefined, component?: SbomComponent): readonly string[] {
  if (component === undefined) return [`${label} is missing`];
  const said = component.licenses?.map((choice) => choice.license?.id ?? choice.expression).join();
  return [
    ...(license !== undefined && said === license ? [] : [`${label}: licence ${said}, by the lock file ${license}`]),
    ...(component.hashes === undefined || component.hashes.length === 0 ? [`${label}: no hash`] : []),
  ];
}

const labelOf = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `${name}@${version}`;

/** That of the format's own schema aside. */
function hostsIn(text: string): readonly string[] {
  const hosts = [...text.matchAll(/\bhttps?:\/\/([^/"\s]+)/g)].map(([, host = ""]) => host);
  return [...new Set(hosts)].filter((host) => host !== "cyclonedx.org");
}
