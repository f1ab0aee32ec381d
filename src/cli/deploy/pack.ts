import { execFileSync } from 'node:child_process'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar, type TarEntry } from 'modern-tar'

/** What a server does not need, or creates itself, and files that usually hold credentials. */
const LEFT_OUT =
  /^(?:node_modules|\.git|\.agentwire|\.next|\.env(?:\..*)?|\.envrc|\.npmrc|\.netrc|id_(?:rsa|ecdsa|ed25519)|.*\.(?:pem|key|p12|pfx)|.*\.db(?:-\w+)?)$/

/**
 * A project's files as a tar.gz. Files that git ignores are left out, as are packages, databases, `.env` and
 * other files of credentials.
 */
export async function packProject(folder: string): Promise<Uint8Array> {
  const entries: TarEntry[] = []
  for (const path of filesOfGit(folder) ?? (await filesBelow(folder))) {
    const stats = await lstat(join(folder, path)).catch(() => undefined)
    const mode = (stats?.mode ?? 0) & 0o111 ? 0o755 : 0o644
    if (stats?.isSymbolicLink())
      entries.push({
        header: { name: path, size: 0, type: 'symlink', linkname: await readlink(join(folder, path)) },
      })
    else if (stats?.isFile()) {
      const body = new Uint8Array(await readFile(join(folder, path)))
      entries.push({ header: { name: path, size: body.byteLength, mode, type: 'file' }, body })
    }
  }
  return gzipSync(await packTar(entries))
}

/** Undefined if the folder is not in a repository, or a repository around it ignores the whole folder. */
function filesOfGit(folder: string): readonly string[] | undefined {
  if (isIgnored(folder)) return undefined
  try {
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 64 << 20,
    })
    return listed
      .split('\0')
      .filter((path) => path !== '' && !path.split('/').some((part) => LEFT_OUT.test(part)))
  } catch {
    return undefined
  }
}

function isIgnored(folder: string): boolean {
  try {
    execFileSync('git', ['check-ignore', '--quiet', folder], { cwd: folder, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

async function filesBelow(folder: string, at = ''): Promise<readonly string[]> {
  const entries = await readdir(join(folder, at), { withFileTypes: true })
  const kept = entries.filter(({ name }) => !LEFT_OUT.test(name))
  const lists = kept.map(async (entry) => {
    const path = posix.join(at, entry.name)
    return entry.isDirectory() ? filesBelow(folder, path) : [path]
  })
  return (await Promise.all(lists)).flat()
}
