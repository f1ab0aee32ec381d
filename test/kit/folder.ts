import { accessSync, constants, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder for a database of a test. It is in memory where there is room: hundreds of tests would wait for a disk, and none needs one. */
export const databaseFolder = (): string => mkdtempSync(join(place, 'agentwire-sqlite-'))

const place = hasRoom('/dev/shm') ? '/dev/shm' : tmpdir()

/** Containers often have 64 MiB of it, which is too little for the tests of four workers. */
function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= 2 ** 30
  } catch {
    return false
  }
}
