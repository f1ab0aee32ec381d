import { sqliteStorage } from '../../../src/storage/sqlite/sqlite.ts'
import { auditStorage } from '../suites.ts'
import { temporaryFiles } from './file.ts'

const url = `file:${temporaryFiles()()}`
auditStorage('sqliteStorage', () => sqliteStorage({ url }), 40)
