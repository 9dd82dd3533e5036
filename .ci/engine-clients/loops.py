"""Agents in front of a real engine, on every interface: the OpenAI Agents SDK and pydantic-ai are made to call a tool in their
first step, run it, and go on until the model calls no more. Whole and streamed.

Usage: loops.py URL MODEL
"""

import asyncio
import sys
import typing

import agents
import anthropic
import openai
import pydantic
import pydantic_ai
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from checks import SEED, Checks

url, model_name = sys.argv[1:3]
checks = Checks("loops")
task = "How is the weather in Paris for the next two days?"
bounded = 60  # tokens: enough for a call
ran = []  # the arguments with which the tool was run
sent = 0
Days = typing.Annotated[int, pydantic.Field(ge=1, le=9)]
City = typing.Literal["Paris", "Oslo", "Rome"]


async def count(request):
    global sent
    sent += 1


def counted(client):
    """A client whose requests are counted."""
    client._client.event_hooks["request"].append(count)
    return client


def get_weather(city: City, days: Days) -> str:
    """The weather in a city, for some days."""
    ran.append((city, days))
    return f"Sunny in {city} for {days} days."


def openai_client():
    return counted(openai.AsyncOpenAI(base_url=url + "/v1", api_key="none", max_retries=0, timeout=600))


async def agents_sdk(interface, streamed):
    model = {"chat": agents.OpenAIChatCompletionsModel, "responses": agents.OpenAIResponsesModel}[interface](model=model_name, openai_client=openai_client())
    # The SDK itself takes the force off when the tool has been run.
    settings = agents.ModelSettings(tool_choice="required", parallel_tool_calls=False, temperature=0, max_tokens=bounded, extra_body={"seed": SEED}, include_usage=True)
    agent = agents.Agent(name="weather", instructions="Answer briefly.", model=model, tools=[agents.function_tool(get_weather)], model_settings=settings)
    if streamed:
        run = agents.Runner.run_streamed(agent, task, max_turns=6)
        async for _ in run.stream_events():
            pass
    else:
        run = await agents.Runner.run(agent, task, max_turns=6)
    kinds = [item.type for item in run.new_items]
    usage = run.context_wrapper.usage
    return run.final_output, kinds[:2] == ["tool_call_item", "tool_call_output_item"] and kinds[-1] == "message_output_item", (usage.requests, usage.input_tokens, usage.output_tokens)


class ForceFirst(AbstractCapability):
    """Makes the model call a tool in the first step, and lets it choose in the others."""

    def get_model_settings(self):
        return lambda context: {"tool_choice": "required" if context.run_step == 1 else "auto"}


async def pydantic_agent(interface, streamed):
    if interface == "messages":
        provider = AnthropicProvider(anthropic_client=counted(anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0, timeout=600)))
        model = AnthropicModel(model_name, provider=provider)
    else:
        model = {"chat": OpenAIChatModel, "responses": OpenAIResponsesModel}[interface](model_name, provider=OpenAIProvider(openai_client=openai_client()))
    settings = {"parallel_tool_calls": False, "temperature": 0, "max_tokens": bounded, "extra_body": {"seed": SEED, "temperature": 0}}
    agent = pydantic_ai.Agent(model, instructions="Answer briefly.", tools=[get_weather], model_settings=settings, capabilities=[ForceFirst()])
    events = []

    async def watch(_, stream):
        async for event in stream:
            events.append(event.event_kind)

    result = await agent.run(task, event_stream_handler=watch if streamed else None, usage_limits=pydantic_ai.UsageLimits(request_limit=6))
    checks.same(f"pydantic-ai on {interface}, streamed {streamed}, it streams", "part_delta" in events, streamed)
    kinds = [part.part_kind for message in result.all_messages() for part in message.parts if part.part_kind != "system-prompt"]
    usage = result.usage
    return result.output, kinds[:3] == ["user-prompt", "tool-call", "tool-return"] and kinds[-1] == "text", (usage.requests, usage.input_tokens, usage.output_tokens)


async def main():
    global sent
    agents.set_tracing_disabled(True)
    for loop, interfaces in [(agents_sdk, ["chat", "responses"]), (pydantic_agent, ["chat", "responses", "messages"])]:
        for interface in interfaces:
            for streamed in (False, True):
                name, sent = f"{loop.__name__} on {interface}, {'streamed' if streamed else 'whole'}", 0
                ran.clear()
                try:
                    said, order, (requests, read, written) = await loop(interface, streamed)
                except Exception as error:
                    checks.that(name, False, error)
                    continue
                checks.that(name + ", an answer", isinstance(said, str) and said != "", said)
                checks.that(name + ", the call before the answer", order)
                # A framework that finds arguments at fault asks again and does not run the tool.
                checks.that(name + ", every call was run", len(ran) == sent - 1 and len(ran) >= 1, (ran, sent))
                checks.that(name + ", arguments", all(c in typing.get_args(City) and type(d) is int and 1 <= d <= 9 for c, d in ran), ran)
                checks.that(name + ", usage", requests == sent and read > 0 and written > 0, (requests, read, written, sent))


asyncio.run(main())
checks.end("openai-agents", agents.version.__version__, "and pydantic-ai", pydantic_ai.__version__)
