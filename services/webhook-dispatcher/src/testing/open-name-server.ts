import { createSocket } from "node:dgram";
import { isIPv4 } from "node:net";

const recordTypes: Record<number, "A" | "AAAA"> = { 1: "A", 28: "AAAA" };
const notFound = 3;
const headerBytes = 12;

/** What a name server of our own says of a name; undefined is no answer at all, [] is NXDOMAIN. */
type Zone = (name: string, type: "A" | "AAAA") => readonly string[] | undefined;

/** A DNS server on loopback (RFC 1035, answers over UDP with a TTL of 0). */
export const openNameServer = async (zone: Zone) => {
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const { name, end } = readName(query);
    const type = query.readUInt16BE(end);
    const addresses = zone(name, recordTypes[type] ?? "A");
    if (addresses === undefined) return;
    const question = query.subarray(headerBytes, end + 4);
    const header = Buffer.alloc(headerBytes);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (addresses.length === 0 ? notFound : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((address) => writeRecord(type, address));
    socket.send(Buffer.concat([header, question, ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    server: `127.0.0.1:${socket.address().port}`,
    close: () => new Promise<void>((resolve) => socket.close(resolve)),
  };
};

const readName = (query: Buffer): { name: string; end: number } => {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
};

const writeRecord = (type: number, address: string): Buffer => {
  const data = isIPv4(address) ? Buffer.from(address.split(".").map(Number)) : ipv6Bytes(address);
  const record = Buffer.alloc(12);
  // A pointer to the name in the question, class IN, TTL 0.
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([record, data]);
};

/** Of an address written out in eight groups. */
const ipv6Bytes = (address: string): Buffer =>
  Buffer.from(
    address
      .split(":")
      .map((group) => group.padStart(4, "0"))
      .join(""),
    "hex",
  );
