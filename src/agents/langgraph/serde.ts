import { reviving, type Serde } from '../../storage/checkpointer/serde.ts'

let langgraphs: Promise<Serde> | undefined

/** LangGraph's own serializer, once there is something to revive. */
function langgraphSerde(): Promise<Serde> {
  langgraphs ??= import('@langchain/langgraph').then(({ MemorySaver }) => new MemorySaver().serde)
  return langgraphs
}

/** `jsonSerde` whose LangChain objects come back as instances, as far as LangChain knows their class. */
export const langchainSerde: Serde = reviving(async (record) => {
  const serde = await langgraphSerde()
  try {
    return await serde.loadsTyped('json', JSON.stringify(record))
  } catch {
    // A class of somebody else, or data that only looks like a record: state must stay readable.
    return record
  }
})
