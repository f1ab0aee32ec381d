/** Encodes a JSON event as a message of Amazon's event stream. */
export function eventFrame(type: string, payload: string): Uint8Array {
  const headers = Buffer.concat(
    Object.entries({
      ':message-type': 'event',
      ':event-type': type,
      ':content-type': 'application/json',
    }).map(([name, value]) => Buffer.concat([counted(name, 1), Buffer.of(7), counted(value, 2)])),
  )
  const body = Buffer.from(payload)
  const prelude = Buffer.concat([number(16 + headers.length + body.length), number(headers.length)])
  const message = Buffer.concat([prelude, number(crc32(prelude)), headers, body])
  return Buffer.concat([message, number(crc32(message))])
}

/** Encodes a text after its length, which takes the given number of bytes. */
function counted(text: string, size: number): Buffer {
  const bytes = Buffer.from(text)
  const length = Buffer.alloc(size)
  length.writeUIntBE(bytes.length, 0, size)
  return Buffer.concat([length, bytes])
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

function crc32(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc
}
