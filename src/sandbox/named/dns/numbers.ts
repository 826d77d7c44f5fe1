/** The numbers of DNS (RFC 1035, 2136, 6891, 8945) that the stand-in uses, by their names there. */
export const TYPE = { A: 1, NS: 2, SOA: 6, TXT: 16, AAAA: 28, OPT: 41, TSIG: 250, ANY: 255 } as const;
export const CLASS = { IN: 1, NONE: 254, ANY: 255 } as const;
export const OPCODE = { QUERY: 0, UPDATE: 5 } as const;
export const RCODE = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5, NOTAUTH: 9 } as const;
export const TSIG_ERROR = { NONE: 0, BADSIG: 16, BADKEY: 17, BADTIME: 18 } as const;
export const FLAG = { RESPONSE: 0x8000, AUTHORITATIVE: 0x0400, TRUNCATED: 0x0200 } as const;

export const opcodeOf = (flags: number): number => (flags >> 11) & 0xf;
export const rcodeOf = (flags: number): number => flags & 0xf;
