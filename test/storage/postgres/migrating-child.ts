import { postgresStorage } from '../../../src/storage/postgres/postgres.ts'

/** Sets up the schemas it is told, one message each, and says how that went. */
const url = process.argv[2]!
process.on('message', async (schema: string) => {
  const { setup, store, close } = postgresStorage({ url, schema })
  try {
    await setup()
    await store.commit('p', { ops: [{ op: 'put', collection: 'c', id: String(process.pid), value: 1 }] })
    process.send!('done')
  } catch (error) {
    process.send!(String(error))
  } finally {
    await close()
  }
})
process.send!('ready')
