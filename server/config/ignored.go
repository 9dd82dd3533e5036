package config

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// ignoredSwitches and ignoredValues are flags of vLLM that configure its engine, its workers or its web framework. In
// front of another engine they mean nothing: they are accepted, so that a command line can be taken over, and a warning
// says so.
var ignoredSwitches = strings.Fields(`
	trust-remote-code enforce-eager enable-prefix-caching enable-chunked-prefill disable-sliding-window
	disable-cascade-attn enable-expert-parallel enable-eplb enable-lora fully-sharded-loras enable-lora-bias
	enable-sleep-mode skip-tokenizer-init disable-custom-all-reduce calculate-kv-scales disable-mm-preprocessor-cache
	skip-mm-profiling enable-mm-embeds enable-prompt-embeds async-scheduling disable-chunked-mm-input enable-dbo
	disable-hybrid-kv-cache-manager headless data-parallel-hybrid-lb data-parallel-external-lb ray-workers-use-nsight
	language-model-only disable-frontend-multiprocessing enable-server-load-tracking disable-uvicorn-access-log
	disable-fastapi-docs enable-ssl-refresh log-error-stack enable-log-deltas enable-offline-docs use-tqdm-on-load
	enable-flashinfer-autotune aggregate-engine-logging enable-mfu-metrics kv-cache-metrics cudagraph-metrics`)

var ignoredValues = strings.Fields(`
	tensor-parallel-size pipeline-parallel-size data-parallel-size data-parallel-rank data-parallel-start-rank
	data-parallel-size-local data-parallel-address data-parallel-rpc-port data-parallel-backend decode-context-parallel-size
	prefill-context-parallel-size gpu-memory-utilization kv-cache-memory-bytes dtype quantization kv-cache-dtype block-size
	swap-space cpu-offload-gb max-num-seqs max-num-batched-tokens max-num-partial-prefills max-long-partial-prefills
	long-prefill-token-threshold num-gpu-blocks-override num-lookahead-slots load-format download-dir model-loader-extra-config
	ignore-patterns pt-load-map-location safetensors-load-strategy revision code-revision tokenizer-revision tokenizer-mode
	hf-config-path hf-overrides hf-token config-format seed max-logprobs logprobs-mode rope-scaling rope-theta
	limit-mm-per-prompt media-io-kwargs mm-processor-kwargs mm-processor-cache-gb mm-processor-cache-type mm-encoder-tp-mode
	mm-encoder-attn-backend mm-shm-cache-max-object-size-mb video-pruning-rate interleave-mm-strings allowed-local-media-path
	allowed-media-domains guided-decoding-backend speculative-config kv-transfer-config kv-events-config ec-transfer-config
	compilation-config additional-config attention-backend attention-config kernel-config profiler-config observability-config
	max-loras max-lora-rank max-cpu-loras lora-dtype lora-modules lora-extra-vocab-size default-mm-loras
	distributed-executor-backend worker-cls worker-extension-cls scheduling-policy scheduler-cls nnodes node-rank master-addr
	master-port distributed-timeout-seconds max-parallel-loading-workers preemption-mode generation-config
	override-generation-config model-impl runner convert task cuda-graph-sizes cudagraph-capture-sizes
	max-cudagraph-capture-size all2all-backend expert-placement-strategy eplb-config num-redundant-experts pooler-config
	logits-processors logits-processor-pattern mamba-cache-dtype mamba-ssm-cache-dtype mamba-block-size prefix-caching-hash-algo
	kv-sharing-fast-prefill kv-offloading-size kv-offloading-backend stream-interval optimization-level performance-mode
	collect-detailed-traces show-hidden-metrics-for-version api-server-count api-server-rank max-log-len log-config-file
	middleware h11-max-incomplete-event-size h11-max-header-count tool-server weight-transfer-config offload-backend`)

// shorthands are vLLM's short forms of some of them.
var shorthands = map[string]string{"quantization": "q", "optimization-level": "O"}

// registerIgnored adds the flags that mean nothing here. They are not shown in the help.
func registerIgnored(flags *pflag.FlagSet) {
	for _, name := range ignoredSwitches {
		if flags.Lookup(name) == nil {
			flags.BoolP(name, "", false, meaningless)
			flags.Lookup(name).Hidden = true
		}
		for _, negative := range []string{"no-" + name} {
			if flags.Lookup(negative) == nil {
				flags.Bool(negative, false, meaningless)
				flags.Lookup(negative).Hidden = true
			}
		}
	}
	for _, name := range ignoredValues {
		if flags.Lookup(name) == nil {
			flags.StringP(name, shorthands[name], "", meaningless)
			flags.Lookup(name).Hidden = true
		}
	}
}

const meaningless = "accepted; it means nothing in front of another engine"

// warnIgnored tells of flags that were given and mean nothing.
func (c *Config) warnIgnored(flags *pflag.FlagSet) {
	flags.Visit(func(f *pflag.Flag) {
		if f.Usage == meaningless {
			c.Warnings = append(c.Warnings, fmt.Sprintf("--%s means nothing in front of the engine %s and is ignored: set it where the engine is started", f.Name, c.Engine))
		}
	})
}
