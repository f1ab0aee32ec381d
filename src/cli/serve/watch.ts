import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { dirname, join, sep } from 'node:path'

export interface WatchOptions {
  readonly folder: string
  /** Paths outside of the sources whose changes count, such as the config. */
  readonly files: readonly string[]
  /** Called after a change, once no more follow for a moment. */
  readonly onChange: () => void
  readonly onError: (error: Error) => void
}

const SOURCE = /\.([cm]?[jt]sx?|json)$/
/** In milliseconds. Editors write a file in several steps, and version control writes many files. */
const QUIET_MS = 100

/**
 * Watches a project's sources folder by folder, because the system's recursive watching would include
 * node_modules. Returns a function that stops it.
 */
export function watchSources({ folder, files, onChange, onError }: WatchOptions): () => void {
  const watchers = new Map<string, FSWatcher>()
  const named = new Set(files)
  let timer: NodeJS.Timeout | undefined

  const changed = (): void => {
    clearTimeout(timer)
    timer = setTimeout(onChange, QUIET_MS)
  }
  const seen = (place: string, name: string | null): void => {
    const path = join(place, name ?? '')
    const isSource = place === folder || place.startsWith(folder + sep)
    // Some systems report no name.
    if (name === null || named.has(path) || (isSource && SOURCE.test(name))) changed()
    else if (!isFolder(path)) forget(path)
    else if (isSource && isWatched(name) && !watchers.has(path)) {
      watchTree(path)
      changed() // Files that were written into it before it was watched.
    }
  }
  const watchFolder = (place: string): void => {
    if (watchers.has(place)) return
    try {
      const watcher = watch(place, (_, name) => seen(place, name))
      watcher.on('error', (error) => {
        forget(place)
        if (isFolder(place)) onError(error)
      })
      watchers.set(place, watcher)
    } catch (error) {
      if (isFolder(place)) onError(error as Error)
    }
  }
  const watchTree = (place: string): void => {
    watchFolder(place)
    for (const name of foldersIn(place)) watchTree(join(place, name))
  }
  const forget = (place: string): void => {
    for (const [path, watcher] of watchers) {
      if (path !== place && !path.startsWith(place + sep)) continue
      watcher.close()
      watchers.delete(path)
    }
  }

  watchTree(folder)
  for (const file of files) watchFolder(dirname(file))
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers.values()) watcher.close()
    watchers.clear()
  }
}

const isWatched = (name: string): boolean =>
  !name.startsWith('.') && name !== 'node_modules' && name !== 'dist'

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/** The folders to watch. None in a folder that was removed meanwhile. */
function foldersIn(place: string): string[] {
  try {
    const entries = readdirSync(place, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory() && isWatched(entry.name)).map(({ name }) => name)
  } catch {
    return []
  }
}
