import { deflateSync } from 'node:zlib'

const BAR = 36
const GAP = 12
const UNIT = 32

/** A picture with a bar for each value, as the bytes of a PNG with a palette of two colours. */
export function barChart(values: readonly number[]): Buffer {
  const width = values.length * (BAR + GAP) + GAP
  const height = (Math.max(...values) + 1) * UNIT
  const rows = Array.from({ length: height }, (_, y) => {
    // Each row begins with its filter: none.
    const row = Buffer.alloc(1 + width)
    for (const [at, value] of values.entries())
      if (height - y <= value * UNIT) row.fill(1, 1 + GAP + at * (BAR + GAP), 1 + (at + 1) * (BAR + GAP))
    return row
  })
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits for each pixel, which are the number of a colour of the palette.
  header.set([8, 3], 8)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from('f8fafc4f46e5', 'hex')),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}

/** `crc32` of node:zlib came with Node 22. */
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}
