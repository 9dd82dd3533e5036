package chattemplate

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// strftime formats a time as Python's strftime does in the C locale.
func strftime(t time.Time, format string) string {
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 >= len(format) {
			out.WriteByte(format[i])
			continue
		}
		i++
		flag := byte(0)
		if strings.IndexByte("-_0^#", format[i]) >= 0 && i+1 < len(format) {
			flag = format[i]
			i++
		}
		out.WriteString(flagged(timePart(t, format[i], flag), flag))
	}
	return out.String()
}

// flagged changes the padding or the letters of a part as its flag says.
func flagged(part string, flag byte) string {
	number := strings.TrimLeft(part, "0 ")
	if number == "" {
		number = "0"
	}
	_, err := strconv.Atoi(number)
	switch {
	case flag == '^':
		return strings.ToUpper(part)
	case flag == '-' && err == nil:
		return number
	case flag == '_' && err == nil:
		return strings.Repeat(" ", len(part)-len(number)) + number
	case flag == '0' && err == nil:
		return strings.Repeat("0", len(part)-len(number)) + number
	}
	return part
}

var goLayouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'd': "02", 'e': "_2", 'm': "01", 'y': "06", 'H': "15",
	'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05",
	'D': "01/02/06", 'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'r': "03:04:05 PM", 'Y': "2006",
}

func timePart(t time.Time, c, flag byte) string {
	if layout, ok := goLayouts[c]; ok {
		return t.Format(layout)
	}
	year, week := t.ISOWeek()
	weekday := int(t.Weekday())
	switch c {
	case '%':
		return "%"
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay())
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000)
	case 'k':
		return fmt.Sprintf("%2d", t.Hour())
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1)
	case 'P':
		return strings.ToLower(t.Format("PM"))
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100)
	case 's':
		return strconv.FormatInt(t.Unix(), 10)
	case 'w':
		return strconv.Itoa(weekday)
	case 'u':
		return strconv.Itoa((weekday+6)%7 + 1)
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-weekday)/7)
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(weekday+6)%7)/7)
	case 'G':
		return strconv.Itoa(year)
	case 'g':
		return fmt.Sprintf("%02d", year%100)
	case 'V':
		return fmt.Sprintf("%02d", week)
	case 'z', 'Z': // Python's datetime.now() knows no zone
		return ""
	}
	if flag != 0 {
		return "%" + string(flag) + string(c)
	}
	return "%" + string(c)
}
