import { createReadStream } from 'node:fs'
import {
  access,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGzip, gzipSync, type ZlibOptions } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DeployError } from '../../../src/control-plane/deployers/deployer.ts'
import { DEFAULT_LIMITS } from '../../../src/control-plane/deployers/process/source/source.ts'
import { unpackTarball } from '../../../src/control-plane/deployers/process/source/tarball.ts'

let root: string
let folder: string
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'agentwire-tarball-')))
  folder = join(root, 'a/b/source')
  await mkdir(dirname(folder), { recursive: true })
})
afterEach(() => rm(root, { recursive: true, force: true }))

interface Entry {
  readonly name: string
  /** The sign of the type in the header. Default: a file. */
  readonly type?: string
  readonly text?: string
  readonly target?: string
  readonly mode?: number
  /** What the header says, where it lies. */
  readonly size?: number
  readonly prefix?: string
}

/** A header and its body, byte by byte, so that it may say what no program that makes archives would. */
function entry({ name, type = '0', text = '', target = '', mode = 0o644, size, prefix = '' }: Entry): Buffer {
  const body = Buffer.from(text)
  const header = Buffer.alloc(512)
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at)
  header.write(name, 0, 100)
  octal(mode, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size ?? body.length, 124, 12)
  octal(0, 136, 12)
  header.write(type, 156)
  header.write(target, 157, 100)
  header.write('ustar\x0000', 257)
  header.write(prefix, 345, 155)
  return Buffer.concat([withChecksum(header), body, Buffer.alloc((512 - (body.length % 512)) % 512)])
}

function withChecksum(header: Buffer): Buffer {
  header.write('        ', 148)
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  )
  return header
}

/** The extended header of POSIX, for names that are long or odd. */
function extended(fields: Readonly<Record<string, string>>): Buffer {
  const text = Object.entries(fields)
    .map(([key, value]) => {
      const rest = ` ${key}=${value}\n`
      let length = Buffer.byteLength(rest) + 1
      while (String(length).length + Buffer.byteLength(rest) !== length) length++
      return `${length}${rest}`
    })
    .join('')
  return entry({ name: 'PaxHeader', type: 'x', text })
}

const END = Buffer.alloc(1024)
const archive = (...parts: readonly (Entry | Buffer)[]): Buffer =>
  gzipSync(Buffer.concat([...parts.map((part) => (Buffer.isBuffer(part) ? part : entry(part))), END]))

async function unpack(packed: Buffer, limits = DEFAULT_LIMITS): Promise<void> {
  const file = join(root, 'upload')
  await writeFile(file, packed)
  await unpackTarball(createReadStream(file), folder, limits, new AbortController().signal)
}

/** All that is in the folder, and what it says. */
async function tree(at = folder): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const one of await readdir(at, { withFileTypes: true, recursive: true })) {
    const path = join(one.parentPath, one.name)
    const name = path.slice(folder.length + 1)
    if (one.isFile()) found[name] = await readFile(path, 'utf8')
    else found[name] = one.isSymbolicLink() ? `-> ${await readlink(path)}` : '/'
  }
  return found
}

const file = { name: 'langgraph.json', text: '{}' }

describe('an archive', () => {
  test('is unpacked with its folders, files and links', async () => {
    await unpack(
      archive(
        { name: './', type: '5' },
        { name: './langgraph.json', text: '{}' },
        { name: 'src/', type: '5', mode: 0o000 },
        { name: 'src/deep/graph.ts', text: 'x'.repeat(2000) },
        { name: 'bin/run', text: '#!', mode: 0o4755 },
        { name: 'bin/same', type: '1', target: './bin/run' },
        { name: 'node_modules/.bin/run', type: '2', target: '../../bin/run' },
        { name: 'empty', text: '' },
        { name: 'old-type', type: '\0', text: 'old' },
      ),
    )
    expect(await tree()).toEqual({
      'langgraph.json': '{}',
      src: '/',
      'src/deep': '/',
      'src/deep/graph.ts': 'x'.repeat(2000),
      bin: '/',
      'bin/run': '#!',
      'bin/same': '#!',
      node_modules: '/',
      'node_modules/.bin': '/',
      'node_modules/.bin/run': '-> ../../bin/run',
      empty: '',
      'old-type': 'old',
    })
    expect((await stat(join(folder, 'bin/run'))).mode & 0o7777).toBe(0o755)
    expect((await stat(join(folder, 'langgraph.json'))).mode & 0o7777).toBe(0o644)
  })

  test('may have long names, and names that its header alone cannot hold', async () => {
    const long = `${'deep/'.repeat(40)}file.txt`
    await unpack(
      archive(
        extended({ path: `${'x'.repeat(150)}/größe.txt` }),
        { name: 'short', text: 'extended' },
        entry({ name: '././@LongLink', type: 'L', text: `${long}\0` }),
        { name: 'short', text: 'gnu' },
        { name: 'file.txt', prefix: 'pre/fix', text: 'ustar' },
      ),
    )
    expect(await tree()).toMatchObject({
      [`${'x'.repeat(150)}/größe.txt`]: 'extended',
      [long]: 'gnu',
      'pre/fix/file.txt': 'ustar',
    })
  })

  test('that holds a file twice has the later one', async () => {
    await unpack(archive(file, { name: 'langgraph.json', text: '{"later":true}' }))
    expect(await tree()).toEqual({ 'langgraph.json': '{"later":true}' })
  })
})

const relative = 'paths must be relative, with "/" as separator.'
const dots = 'paths must not contain "..".'
const leadsOut = (name: string) => `The link ${JSON.stringify(name)} leads outside the source.`

describe('a hostile archive is refused, and nothing outside its folder is touched:', () => {
  const attacks: readonly (readonly [string, readonly (Entry | Buffer)[], string])[] = [
    ['a name with ..', [{ name: '../evil', text: 'x' }], dots],
    ['a name with .. in the middle', [{ name: 'a/../../../evil', text: 'x' }], dots],
    ['a name with .. that stays inside', [{ name: 'a/../b', text: 'x' }], dots],
    ['a folder with ..', [{ name: '../evil/', type: '5' }], dots],
    ['an absolute name', [{ name: '/OUT/evil', text: 'x' }], relative],
    ['a name with a drive', [{ name: 'C:evil', text: 'x' }], relative],
    ['a name with backslashes', [{ name: '..\\..\\evil', text: 'x' }], relative],
    ['a name with .. in its prefix', [{ name: 'evil', prefix: '../..', text: 'x' }], dots],
    ['an extended name with ..', [extended({ path: '../../evil' }), { name: 'ok', text: 'x' }], dots],
    ['an extended absolute name', [extended({ path: '/OUT/evil' }), { name: 'ok', text: 'x' }], relative],
    [
      'a name for all entries with ..',
      [entry({ name: 'g', type: 'g', text: '19 path=../../evil\n' }), { name: 'ok', text: 'x' }],
      dots,
    ],
    [
      'a long name of GNU with ..',
      [entry({ name: 'L', type: 'L', text: '../../evil\0' }), { name: 'ok', text: 'x' }],
      dots,
    ],
    [
      'a name with a line break',
      [extended({ path: 'a\nb' }), { name: 'ok', text: 'x' }],
      'names must not contain control characters.',
    ],
    [
      'a name with a NUL',
      [extended({ path: 'a\0b' }), { name: 'ok', text: 'x' }],
      'names must not contain control characters.',
    ],
    ['a file without a name', [{ name: '.', text: 'x' }], 'which does not name a file.'],
    ['an absolute link', [file, { name: 'evil', type: '2', target: '/OUT' }], leadsOut('evil')],
    ['a link with ..', [file, { name: 'evil', type: '2', target: '../x' }], leadsOut('evil')],
    [
      'a deep link with too many ..',
      [file, { name: 'a/evil', type: '2', target: '../../x' }],
      leadsOut('a/evil'),
    ],
    [
      'an extended link',
      [file, extended({ linkpath: '../../x' }), { name: 'evil', type: '2' }],
      leadsOut('evil'),
    ],
    [
      'a file through a link to the outside',
      [
        { name: 'evil', type: '2', target: '/OUT' },
        { name: 'evil/x', text: 'x' },
      ],
      leadsOut('evil'),
    ],
    [
      'a file through a link to the inside',
      [
        { name: 'a/b', text: '' },
        { name: 'evil', type: '2', target: 'a' },
        { name: 'evil/x', text: 'x' },
      ],
      'could not be created.',
    ],
    [
      'a link through a link',
      [{ name: 'in', type: '2', target: '.' }, { name: 'in/evil', type: '2', target: '..' }, file],
      'could not be created.',
    ],
    [
      'a link that leads out by way of another link',
      [
        { name: 'a/b/c', text: '' },
        { name: 's', type: '2', target: 'a/b' },
        { name: 'evil', type: '2', target: 's/../../../../../outside' },
      ],
      leadsOut('evil'),
    ],
    [
      'a link in the place of a file',
      [file, { name: 'langgraph.json', type: '2', target: 'x' }],
      'could not be created.',
    ],
    [
      'a link in the place of the folder',
      [file, { name: './', type: '2', target: '/OUT' }],
      'which does not name a file.',
    ],
    [
      'links in a circle',
      [file, { name: 'a', type: '2', target: 'b' }, { name: 'b', type: '2', target: 'a' }],
      'cannot be followed.',
    ],
    ['an empty link', [file, { name: 'evil', type: '2', target: '' }], 'could not be created.'],
    ['a hard link to the outside', [file, { name: 'evil', type: '1', target: '/OUT/secret' }], relative],
    ['a hard link with ..', [file, { name: 'evil', type: '1', target: '../../secret' }], dots],
    [
      'a hard link to nothing',
      [file, { name: 'evil', type: '1', target: 'gone' }],
      'which is not a file in the archive.',
    ],
    [
      'a hard link to a folder',
      [file, { name: 'd/', type: '5' }, { name: 'evil', type: '1', target: 'd' }],
      'which is not a file in the archive.',
    ],
    [
      'a hard link to a link',
      [file, { name: 's', type: '2', target: '/OUT/secret' }, { name: 'evil', type: '1', target: 's' }],
      'which is not a file in the archive.',
    ],
    ['a character device', [{ name: 'evil', type: '3' }], '(character-device).'],
    ['a block device', [{ name: 'evil', type: '4' }], '(block-device).'],
    ['a pipe', [{ name: 'evil', type: '6' }], '(fifo).'],
    [
      'a file as a folder',
      [
        { name: 'a', text: 'x' },
        { name: 'a/b', text: 'x' },
      ],
      'both as a file and as a folder.',
    ],
    [
      'a folder as a file',
      [
        { name: 'a/b', text: 'x' },
        { name: 'a', text: 'x' },
      ],
      'both as a file and as a folder.',
    ],
    [
      'a folder in the place of a file',
      [
        { name: 'a', text: 'x' },
        { name: 'a/', type: '5' },
      ],
      'both as a file and as a folder.',
    ],
    [
      'a name that is too long for any file',
      [extended({ path: 'x'.repeat(300) }), { name: 'ok', text: 'x' }],
      'a path that is too long.',
    ],
    ['a wrong checksum', [Buffer.from(entry(file)).fill('9', 100, 101)], 'The archive is broken: '],
    [
      'a size that is no number',
      [withChecksum(Buffer.from(entry(file)).fill('z', 124, 130).subarray(0, 512)), Buffer.alloc(512)],
      'The archive is broken: ',
    ],
    ['a size beyond its end', [entry({ ...file, size: 5_000_000 })], 'The archive is broken: '],
    [
      'a huge extended header',
      [entry({ name: 'x', type: 'x', size: 2_000_000_000 })],
      'The archive is broken: ',
    ],
    ['bytes that are no archive', [Buffer.alloc(2048, 'not a tar')], 'The archive is broken: '],
    ['nothing but folders', [{ name: 'a/', type: '5' }], 'The archive contains no files.'],
    ['nothing at all', [], 'The archive contains no files.'],
  ]
  test.each(attacks)('%s', async (_, parts, message) => {
    const outside = join(root, 'outside')
    await mkdir(outside)
    await writeFile(join(outside, 'secret'), 'secret')
    const before = await readdir(root, { recursive: true })
    const here = (part: Entry | Buffer) =>
      Buffer.isBuffer(part)
        ? part
        : {
            ...part,
            name: part.name.replace('/OUT', outside),
            target: part.target?.replace('/OUT', outside) ?? '',
          }
    await expect(unpack(archive(...parts.map(here)))).rejects.toSatisfy(
      (error) => error instanceof DeployError && error.message.includes(message),
      message,
    )
    await rm(folder, { recursive: true, force: true })
    expect((await readdir(root, { recursive: true })).filter((name) => name !== 'upload').sort()).toEqual(
      before.sort(),
    )
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret')
    expect((await lstat(outside)).isDirectory()).toBe(true)
  })
})

describe('an archive that is not whole', () => {
  const whole = archive(file, {
    name: 'noise',
    text: Array.from({ length: 3000 }, (_, at) => Math.sin(at)).join(),
  })

  test.each([1, 5, 11, 100, 3000, whole.length - 9, whole.length - 1])(
    'after %i bytes is told',
    async (length) => {
      await expect(unpack(whole.subarray(0, length))).rejects.toThrow(
        'The archive is incomplete: upload it again.',
      )
    },
  )

  test('of no bytes is told', async () => {
    await expect(unpack(Buffer.alloc(0))).rejects.toBeInstanceOf(DeployError)
  })

  test('with a changed byte is told', async () => {
    for (let at = 20; at < whole.length - 8; at += 401) {
      const changed = Buffer.from(whole)
      changed[at]! ^= 0xff
      await expect(unpack(changed)).rejects.toBeInstanceOf(DeployError)
      await rm(folder, { recursive: true, force: true })
    }
  })

  test.each([0, 100, whole.length - 9])(
    'is not blamed where reading it fails after %i bytes',
    async (length) => {
      const failure = new Error('The store is away.')
      const packed = Readable.from(
        (async function* () {
          yield whole.subarray(0, length)
          throw failure
        })(),
      )
      const unpacking = unpackTarball(packed, folder, DEFAULT_LIMITS, new AbortController().signal)
      await expect(unpacking).rejects.toBe(failure)
    },
  )

  test('is not blamed where its file is missing or the folder cannot be made, and its file is closed', async () => {
    const unpacking = (packed: Readable, to: string) =>
      unpackTarball(packed, to, DEFAULT_LIMITS, new AbortController().signal)
    await expect(unpacking(createReadStream(join(root, 'none')), folder)).rejects.toHaveProperty(
      'code',
      'ENOENT',
    )
    const upload = join(root, 'upload')
    await writeFile(upload, whole)
    const packed = createReadStream(upload)
    await expect(unpacking(packed, join(upload, 'below'))).rejects.toHaveProperty('code', 'ENOTDIR')
    await expect.poll(() => packed.closed).toBe(true)
  })

  test('without its end is told', async () => {
    await expect(unpack(gzipSync(entry(file)))).rejects.toThrow('The archive is broken: ')
  })

  test.each([
    ['a plain tar', Buffer.concat([entry(file), END])],
    ['a zip', Buffer.from('PK\x03\x04 and so on')],
    ['text', Buffer.from('<html>Not Found</html>')],
  ])('or is %s is told', async (_, packed) => {
    await expect(unpack(packed)).rejects.toThrow('The upload is not a gzip archive: upload a tar.gz.')
  })
})

/** An archive with one file that repeats a piece. It is made while it is read, and no further. */
const large = (size: number, piece: Buffer, options: ZlibOptions): Readable =>
  pipeline(
    Readable.from(
      (function* () {
        yield entry({ name: 'body', size }).subarray(0, 512)
        for (let at = 0; at < size; at += piece.length) yield piece
        yield END
      })(),
    ),
    createGzip(options),
    () => {},
  )

describe('an archive that is too large', () => {
  test('in all is refused before it is written', async () => {
    const packed = archive(file, {
      name: 'noise',
      text: Array.from({ length: 3000 }, (_, at) => Math.sin(at)).join(),
    })
    await expect(unpack(packed, { maxBytes: 20_000, maxEntries: 10 })).rejects.toThrow(
      'The unpacked source is larger than 0.02 MB.',
    )
  })

  test('in its number of entries is refused', async () => {
    const packed = archive(...Array.from({ length: 50 }, (_, at) => ({ name: `f${at}`, text: '' })))
    await expect(unpack(packed, { maxBytes: 1e6, maxEntries: 49 })).rejects.toThrow(
      'The source contains more than 49 files and folders.',
    )
  })

  test('compared with its packed size is refused, long before the disk is full', async () => {
    const size = 900 * 1024 * 1024
    const zeros = Buffer.alloc(1024 * 1024)
    await expect(
      unpackTarball(large(size, zeros, { level: 1 }), folder, DEFAULT_LIMITS, new AbortController().signal),
    ).rejects.toThrow('The archive is compressed to less than 1/200 of its size, which source code never is.')
    expect((await stat(join(folder, 'body'))).size).toBeLessThan(40 * 1024 * 1024)
  })

  test('for the memory is unpacked as it is read', async () => {
    const size = 300 * 1024 * 1024
    const noise = Buffer.from(
      Uint32Array.from({ length: 256 * 1024 }, (_, at) => Math.imul(at, 2654435761) ^ (at >>> 3)).buffer,
    )
    const before = process.memoryUsage().rss
    let highest = 0
    const timer = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().rss)
    }, 20)
    // To compress it would take longer than all else here.
    const packed = large(size, noise, { level: 0 })
    await unpackTarball(packed, folder, DEFAULT_LIMITS, new AbortController().signal)
    clearInterval(timer)
    expect((await stat(join(folder, 'body'))).size).toBe(size)
    expect(highest - before).toBeLessThan(150 * 1024 * 1024)
    const written = await open(join(folder, 'body'))
    const last = Buffer.alloc(16)
    await written.read(last, 0, 16, size - 16)
    await written.close()
    expect(last).toEqual(noise.subarray(-16))
  })
})

test('an abort ends it with the reason of the signal', async () => {
  const controller = new AbortController()
  const reason = new Error('A newer revision came.')
  const file = join(root, 'upload')
  await writeFile(file, archive(...Array.from({ length: 2000 }, (_, at) => ({ name: `f${at}`, text: 'x' }))))
  const unpacking = unpackTarball(createReadStream(file), folder, DEFAULT_LIMITS, controller.signal)
  setTimeout(() => controller.abort(reason), 20)
  await expect(unpacking).rejects.toBe(reason)
  await access(folder)
})
