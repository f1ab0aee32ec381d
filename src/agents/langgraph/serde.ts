import { reviving, type Serde } from '../../storage/checkpointer/serde.ts'

let loaded: Promise<Serde> | undefined

/** LangGraph's own serializer, loaded when there is something to revive. */
function langgraphSerde(): Promise<Serde> {
  loaded ??= import('@langchain/langgraph').then(({ MemorySaver }) => new MemorySaver().serde)
  return loaded
}

/** `jsonSerde` that revives LangChain objects as instances, if LangChain knows their class. */
export const langchainSerde: Serde = reviving(async (record) => {
  const serde = await langgraphSerde()
  try {
    return await serde.loadsTyped('json', JSON.stringify(record))
  } catch {
    // The class is unknown, or the data only look like a record. The state must stay readable in both cases.
    return record
  }
})
