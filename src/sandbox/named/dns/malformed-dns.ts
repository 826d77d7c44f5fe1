/** Bytes that are no DNS message, or one that the stand-in cannot read. */
export class MalformedDns extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MalformedDns";
  }
}
