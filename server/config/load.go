package config

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// Load fills in what the command line does not say: first from the environment, then from the file of --config.
func (c *Config) Load(flags *pflag.FlagSet, lookup func(string) (string, bool)) error {
	given := map[string]bool{}
	flags.Visit(func(f *pflag.Flag) {
		given[f.Name] = true
		if n, ok := f.Value.(*negation); ok {
			given[n.name] = true
		}
	})
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		if given[f.Name] || err != nil || f.Value.Type() == "negation" || f.Usage == meaningless {
			return
		}
		if name, text, ok := environment(f.Name, lookup); ok {
			given[f.Name] = true
			err = set(flags, f.Name, text, "the environment variable "+name)
		}
	})
	if err != nil {
		return err
	}
	if file := flags.Lookup("config").Value.String(); file != "" {
		if err := loadFile(flags, file, given); err != nil {
			return err
		}
	}
	if err := c.loadEnvironment(lookup); err != nil {
		return err
	}
	c.warnIgnored(flags)
	return nil
}

// environment finds the variable of a flag. Where a cluster has a service of the same name it sets variables that look
// like ours; those are links, and not meant.
func environment(flag string, lookup func(string) (string, bool)) (name, text string, ok bool) {
	for _, prefix := range []string{"PARLANCE_", "VLLM_"} {
		name = prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
		if name == "VLLM_PORT" { // vLLM means the port of its workers by it
			continue
		}
		if text, ok = lookup(name); ok && !strings.HasPrefix(text, "tcp://") {
			return name, text, true
		}
	}
	return "", "", false
}

func set(flags *pflag.FlagSet, name, text, where string) error {
	if err := flags.Set(name, text); err != nil {
		return errorf(valueError, "%s: %v", where, FlagError(err))
	}
	return nil
}

// loadFile reads a file of flags.
func loadFile(flags *pflag.FlagSet, file string, given map[string]bool) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return errorf(valueError, "--config: %v", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return errorf(valueError, "%s: %v", file, err)
	}
	if len(document.Content) == 0 {
		return nil
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return errorf(valueError, "%s:%d: expected flags as keys", file, root.Line)
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		where := fmt.Sprintf("%s:%d", file, key.Line)
		name := strings.ReplaceAll(strings.TrimPrefix(key.Value, "--"), "_", "-")
		flag := flags.Lookup(name)
		if flag == nil || name == "config" {
			return errorf(valueError, "%s: %q is no flag of serve", where, key.Value)
		}
		if n, ok := flag.Value.(*negation); given[name] || ok && given[n.name] {
			continue
		}
		texts, err := flagTexts(value)
		var truth bool
		if kind := flag.Value.Type(); (kind == "bool" || kind == "negation") && len(texts) == 1 && value.Decode(&truth) == nil {
			texts[0] = strconv.FormatBool(truth) // yes and on too, as Python's YAML has them
		}
		if err != nil {
			return errorf(valueError, "%s: %s: %v", where, key.Value, err)
		}
		for _, text := range texts {
			if err := set(flags, name, text, where); err != nil {
				return err
			}
		}
	}
	return nil
}

// flagTexts writes a value of the file as it would stand on the command line.
func flagTexts(value *yaml.Node) ([]string, error) {
	switch value.Kind {
	case yaml.ScalarNode:
		if value.Tag == "!!null" {
			return nil, nil
		}
		return []string{value.Value}, nil
	case yaml.SequenceNode:
		var texts []string
		for _, element := range value.Content {
			inner, err := flagTexts(element)
			if err != nil {
				return nil, err
			}
			texts = append(texts, inner...)
		}
		return texts, nil
	}
	var object map[string]any
	if err := value.Decode(&object); err != nil {
		return nil, err
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, errors.New("expected values that JSON has: texts, finite numbers, true, false, null, lists and objects")
	}
	return []string{string(text)}, nil
}

// loadEnvironment reads what only variables say, as in vLLM.
func (c *Config) loadEnvironment(lookup func(string) (string, bool)) error {
	truth := func(name string, standard bool) bool {
		if text, ok := lookup(name); ok {
			return slices.Contains([]string{"true", "1"}, strings.ToLower(text))
		}
		return standard
	}
	c.EnforceStrict = truth("VLLM_ENFORCE_STRICT_TOOL_CALLING", true)
	c.ResponsesStore = truth("VLLM_ENABLE_RESPONSES_API_STORE", true)
	for name, target := range map[string]*int{"VLLM_MAX_STOP_STRINGS": &c.MaxStopStrings, "VLLM_MAX_N_SEQUENCES": &c.MaxChoices} {
		*target = map[string]int{"VLLM_MAX_STOP_STRINGS": 4, "VLLM_MAX_N_SEQUENCES": 16384}[name]
		if text, ok := lookup(name); ok {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 {
				return errorf(valueError, "the environment variable %s: expected a number, found %q", name, text)
			}
			*target = n
		}
	}
	return nil
}
