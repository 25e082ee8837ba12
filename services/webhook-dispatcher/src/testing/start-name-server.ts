import { createSocket } from "node:dgram";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

const recordTypes: Record<number, "A" | "AAAA"> = { 1: "A", 28: "AAAA" };
const nxdomainCode = 3;
const headerBytes = 12;

/**
 * Returns the test name server's records for a name. They are addresses, or another name as a
 * CNAME, to which the following entries then belong. If undefined, the server does not respond.
 * `[]` means NXDOMAIN.
 */
export type Zone = (name: string, type: "A" | "AAAA") => readonly string[] | undefined;

/** Starts a DNS server on loopback (RFC 1035, UDP, with a TTL of 0). */
export const startNameServer = async (zone: Zone) => {
  const socket = createSocket("udp4");
  socket.on("message", (query, sender) => {
    const { name, end } = readName(query);
    const type = query.readUInt16BE(end);
    const addresses = zone(name, recordTypes[type] ?? "A");
    if (addresses === undefined) return;
    const question = query.subarray(headerBytes, end + 4);
    const header = Buffer.alloc(headerBytes);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (addresses.length === 0 ? nxdomainCode : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    const records = writeRecords(type, addresses);
    socket.send(Buffer.concat([header, question, ...records]), sender.port, sender.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    server: `127.0.0.1:${socket.address().port}`,
    close: () => new Promise<void>((resolve) => socket.close(resolve)),
  };
};

const readName = (query: Buffer): { name: string; end: number } => {
  const labels: string[] = [];
  let offset = headerBytes;
  for (let length = query.readUInt8(offset); length > 0; length = query.readUInt8(offset)) {
    labels.push(query.toString("latin1", offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: offset + 1 };
};

const cnameType = 5;

/**
 * The first record belongs to the queried name. Records after a CNAME belong to the CNAME's target.
 */
const writeRecords = (type: number, entries: readonly string[]): Buffer[] => {
  let owner: Buffer = Buffer.from([0xc0, headerBytes]);
  return entries.map((entry) => {
    if (isIP(entry) !== 0) {
      return writeRecord(owner, type, Buffer.from(ipaddr.parse(entry).toByteArray()));
    }
    const target = writeName(entry);
    const record = writeRecord(owner, cnameType, target);
    owner = target;
    return record;
  });
};

/** Writes a record of class IN with a TTL of 0. */
const writeRecord = (owner: Buffer, type: number, data: Buffer): Buffer => {
  const recordFields = Buffer.alloc(10);
  recordFields.writeUInt16BE(type, 0);
  recordFields.writeUInt16BE(1, 2);
  recordFields.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, recordFields, data]);
};

const writeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);
